/// A node's permit to give a staged file its name on shared storage.
///
/// It says by which facts another node finds out whether the file was published. They are those of the part: a rename
/// keeps them.
public struct FleetPermit: Hashable, Sendable {
    public var hold: FleetHold
    /// The storage's name.
    public var storage: String
    /// Path of the directory beneath the storage, without a leading slash; empty for the storage itself.
    public var directory: String
    /// The part's name in it: what carries the node's tag, so that removing it by name removes no other file.
    public var part: String
    /// The final name, unless `on_conflict` chooses another one.
    public var name: String
    public var inode: UInt64
    /// Bytes.
    public var size: Int64
    /// Nanoseconds since 1970.
    public var modifiedAt: Int64

    public init(
        hold: FleetHold, storage: String, directory: String, part: String, name: String, inode: UInt64, size: Int64,
        modifiedAt: Int64
    ) {
        self.hold = hold
        self.storage = storage
        self.directory = directory
        self.part = part
        self.name = name
        self.inode = inode
        self.size = size
        self.modifiedAt = modifiedAt
    }
}

/// A permit of a claim that is void now.
public struct FleetOpenPermit: Hashable, Sendable {
    public let permit: FleetPermit
    /// True if a wish to cancel waited for the former node.
    public let wasCancelling: Bool
}
