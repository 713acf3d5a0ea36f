/// One network operation and its resume data. Durable; made when its first task starts, gone when its last one ends.
public struct Transfer: Hashable, Sendable {
    public var id: TransferID
    /// Tells this database's partial files from those of another daemon that downloads into the same directory.
    public var tag: String
    public var partial: PartialLocation
    public var resumeData: ResumeData
    /// Who sent the kept bytes; empty also where only the built-in default policy judged.
    public var sources: [SourceEvidence] = []
    /// Which of the task's sources the kept bytes are from.
    public var sourceUse = SourceUse()
    /// Set before the final rename, so that a restart can tell what happened.
    public var publishIntent: PublishIntent?
    public var createdAt: Timestamp

    public init(
        id: TransferID, tag: String, partial: PartialLocation, resumeData: ResumeData = ResumeData(),
        createdAt: Timestamp
    ) {
        self.id = id
        self.tag = tag
        self.partial = partial
        self.resumeData = resumeData
        self.createdAt = createdAt
    }

    /// Name of the partial file within its directory.
    public var partialName: String { ".xfer-\(tag)-\(id).part" }
}

/// The directory a partial file lies in, and which one it was when the file was made.
public struct PartialLocation: Hashable, Sendable {
    /// Absolute path.
    public var directory: String
    /// If another directory is found there later (an unmounted disk), the task waits.
    public var identity: FileIdentity

    public init(directory: String, identity: FileIdentity) {
        self.directory = directory
        self.identity = identity
    }
}

/// A file's device and inode numbers (stat(3type)).
public struct FileIdentity: Hashable, Sendable, Codable {
    public let device: UInt64
    public let inode: UInt64

    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Stands for a file that was never looked at; no file has inode 0.
    public static let unknown = FileIdentity(device: 0, inode: 0)
}

/// What a publish is about to do, committed before it is done.
public struct PublishIntent: Hashable, Sendable, Codable {
    /// Final name within the partial file's directory.
    public var finalName: String
    /// The partial file's own identity: the final name has it once the rename happened.
    public var part: FileIdentity

    public init(finalName: String, part: FileIdentity) {
        self.finalName = finalName
        self.part = part
    }
}
