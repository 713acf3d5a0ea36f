import CLinux
import Glibc
import XferModel

/// The abilities of a file system with files and their names. `FileSystems` determines them once for each mount.
///
/// Every strategy states the traits that it needs, so that no other code compares types of file systems.
public struct FileSystemTraits: Hashable, Sendable {
    /// Abilities that not every file system has.
    public enum Feature: String, Hashable, Sendable, CaseIterable {
        /// A rename that replaces nothing (renameat2(2), `RENAME_NOREPLACE`).
        case exclusiveRename = "exclusive_rename"
        /// A second name for a file (link(2)).
        case hardLinks = "hard_links"
        /// Files without a name (open(2), `O_TMPFILE`).
        case unnamedFiles = "unnamed_files"
    }

    /// The names that files may have.
    public enum Names: String, Hashable, Sendable {
        /// All bytes but `/` and NUL.
        case any
        /// Only names that Windows allows: certain characters, endings and names are reserved.
        case windows
        /// Names that only an attempt can judge, because another machine or program decides.
        case unknown
    }

    /// The name in /proc/filesystems, with that of the program for FUSE: `ext4`, `fuse.sshfs`.
    public var name: String
    /// True if its files are on this machine's own disks or in its memory, so that this machine sets their times.
    public var isLocal: Bool
    /// True if it distinguishes bytes that were never written from zeros that were.
    public var knowsHoles: Bool
    /// True if a file keeps its inode number when it is renamed or opened again.
    public var keepsInodeNumbers: Bool
    /// True if names and link counts reach the disk together; false if that is unknown.
    public var journalsLinks: Bool
    /// The features known to be missing. A feature that was never tried is not in it.
    public var lacking: Set<Feature> = []
    /// The length of the longest name, in bytes of UTF-8, 1 … `FileName.maximumByteCount`.
    public var longestName = FileName.maximumByteCount
    public var names: Names
    /// The length of the largest file, in bytes; nil if that is unknown.
    public var largestFile: Int64?
    /// The step of modification times, in nanoseconds. A time may be cut to a multiple of it at any moment.
    public var timeStep: Int64 = 1

    /// True if both times can be of one unchanged file: they are equal, or one is the other cut to `timeStep`.
    func isSameTime(_ found: Int64, as recorded: Int64) -> Bool {
        found == recorded || timeStep > 1 && found == Self.cut(recorded, to: timeStep)
    }

    private static func cut(_ time: Int64, to step: Int64) -> Int64 {
        let rest = time % step
        return time.subtractingSaturated(rest < 0 ? rest + step : rest)
    }
}

extension FileSystemTraits {
    /// Determines the traits of an open file's file system. Blocks.
    ///
    /// - Parameter device: that of the file, stat(2).
    init(of descriptor: Int32, device: UInt64) {
        let type = xfer_file_system_type(descriptor)
        let isLocal = xfer_is_local(type)
        let isFUSE = type == Self.fuse
        // FUSE on a block device: NTFS and exFAT.
        let isForeignDisk = isFUSE && xfer_major(device) != 0
        name = MountTable.type(ofDevice: device) ?? "0x\(String(type, radix: 16))"
        self.isLocal = isLocal
        knowsHoles = xfer_knows_holes(type)
        keepsInodeNumbers = xfer_keeps_inode_numbers(type)
        // ext2 and ext3 have the same number; the others are never without a log of their changes.
        journalsLinks = type == UInt(EXT4_SUPER_MAGIC) ? Self.hasJournal(device: device) : isLocal
        names = isLocal ? .any : xfer_names_as_windows(type) || isForeignDisk ? .windows : .unknown
        var facts = statvfs()
        if fstatvfs(descriptor, &facts) == 0, facts.f_namemax > 0 {
            longestName = min(Int(clamping: facts.f_namemax), FileName.maximumByteCount)
        }
        // FAT has 32 bits for a length and counts every other second (fatgen103). The times of FUSE are those of a
        // program, and SFTP counts whole seconds.
        if type == UInt(MSDOS_SUPER_MAGIC) { largestFile = Int64(UInt32.max) }
        if type == UInt(MSDOS_SUPER_MAGIC) { timeStep = 2_000_000_000 } else if isFUSE { timeStep = 1_000_000_000 }
        if xfer_has_no_links(type) { lacking.insert(.hardLinks) }
    }

    /// `FUSE_SUPER_MAGIC`, which is not in linux/magic.h of all versions.
    private static var fuse: UInt { 0x6573_5546 }

    private static func hasJournal(device: UInt64) -> Bool {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let link = "/sys/dev/block/\(xfer_major(device)):\(xfer_minor(device))"
        let length = readlink(link, &target, target.count - 1)
        guard length > 0 else { return false }
        let path = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let device = path.split(separator: "/").last, let listing = opendir("/proc/fs/jbd2") else { return false }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // DEVICE-INODE for a journal within the file system, whose name may have ! for /.
            if name.hasPrefix("\(device)-") { return true }
        }
        return false
    }
}
