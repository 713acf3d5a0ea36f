/// A node's permit to give a staged file its name on shared storage.
///
/// It contains the facts by which another node determines if the file was published. They are those of the partial
/// file: a rename keeps them.
public struct FleetPermit: Hashable, Sendable {
    public var claimKey: FleetClaimKey
    /// The storage's name.
    public var storage: String
    /// Path of the directory beneath the storage, without a leading slash; empty for the storage itself.
    public var directory: String
    /// The partial file's name in the directory. It contains the node's tag, so that removing it by name removes no
    /// other file.
    public var part: String
    /// The final name, unless `on_conflict` chooses another one.
    public var name: String
    public var inode: UInt64
    /// The length in bytes.
    public var size: Int64
    /// The modification time in nanoseconds since 1970.
    public var modifiedAt: Int64

    public init(
        claimKey: FleetClaimKey, storage: String, directory: String, part: String, name: String, inode: UInt64,
        size: Int64,
        modifiedAt: Int64
    ) {
        self.claimKey = claimKey
        self.storage = storage
        self.directory = directory
        self.part = part
        self.name = name
        self.inode = inode
        self.size = size
        self.modifiedAt = modifiedAt
    }
}

/// A permit of a claim that is now void.
public struct FleetOpenPermit: Hashable, Sendable {
    public let permit: FleetPermit
    /// True if a wish to cancel waited for the previous node.
    public let wasCancelling: Bool
}
