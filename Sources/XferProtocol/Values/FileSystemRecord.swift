/// A file system with the properties that xferd has determined by using it.
public struct FileSystemRecord: WireRecord, Hashable {
    public var type = ""
    public var mountPoint: String?
    public var isLocal = false
    public var keepsInodeNumbers = false
    public var hasJournal = false
    public var missing: [OpenEnum<FileSystemFeature>] = []
    public var names = OpenEnum(FileSystemNames.any)
    public var longestName = 255
    public var largestFile: Int64?
    public var timeStep: Int64 = 1

    public init() {}

    public static let summary = "A file system and its properties, as far as xferd knows them."
    public static let wireFields: WireFields<Self> = [
        .required("type", \.type, "Its name in /proc/filesystems; for FUSE with the program, such as fuse.sshfs."),
        .optional("mount_point", \.mountPoint, "The directory where it is mounted, if that is known."),
        .required("local", \.isLocal, "True if its files are on this machine's own disks or in its memory."),
        .required(
            "stable_inodes", \.keepsInodeNumbers,
            "True if a file keeps its inode number when renamed. Otherwise length, time and digest identify it."),
        .required(
            "journal", \.hasJournal, "True if names and files reach the disk together; false if that is unknown."),
        .required(
            "missing", \.missing, "Features known to be missing. Features that were never tried are not listed."),
        .required("names", \.names, "The file names that it allows."),
        .required("longest_name", \.longestName, "Maximum length of a file name in bytes."),
        .optional("largest_file", \.largestFile, "Maximum length of a file in bytes, if known."),
        .required("time_step", \.timeStep, "Resolution of modification times in nanoseconds."),
    ]
}

/// An ability that not every file system has.
public enum FileSystemFeature: String, Sendable, CaseIterable, WireEnum {
    /// A rename that replaces nothing.
    case exclusiveRename = "exclusive_rename"
    /// A second name for a file.
    case hardLinks = "hard_links"
    /// Files without a name.
    case unnamedFiles = "unnamed_files"
}

/// The names that a file system can hold.
public enum FileSystemNames: String, Sendable, CaseIterable, WireEnum {
    /// All bytes but / and NUL.
    case any
    /// Only names that Windows allows.
    case windows
    /// Names that only an attempt can judge.
    case unknown
}
