/// A node's permit to give a staged file its name on shared storage.
///
/// It contains the facts by which another node determines if the file was published. They are those of the partial
/// file: a rename keeps them.
struct FleetPermit: Hashable, Sendable {
    var claimKey: FleetClaimKey
    /// The storage's name.
    var storage: String
    /// Path of the directory beneath the storage, without a leading slash; empty for the storage itself.
    var directory: String
    /// The partial file's name in the directory. It contains the node's tag, so that removing it by name removes no
    /// other file.
    var part: String
    /// The final name, unless `on_conflict` chooses another one.
    var name: String
    var inode: UInt64
    /// The length in bytes.
    var size: Int64
    /// The modification time in nanoseconds since 1970.
    var modifiedAt: Int64
}

/// A permit of a claim that is now void.
struct FleetOpenPermit: Hashable, Sendable {
    let permit: FleetPermit
    /// True if a wish to cancel waited for the previous node.
    let wasCancelling: Bool
}
