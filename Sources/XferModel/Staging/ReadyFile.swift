/// A file that is whole and right and waits for its final name: what was staged, or what a hook left.
///
/// It lies in its transfer's directory. Whoever publishes it looks first whether it is still what it was then.
public struct ReadyFile: Hashable, Sendable {
    /// Name within the directory.
    public var name: String
    /// Nil while a hook works on it: what lies there is then of no use.
    public var facts: FileFacts?
    /// Of its content, for when the facts have changed; nil where they have to do.
    public var digest: Checksum?
    /// The name it is to have, before `on_conflict` is asked.
    public var finalName: String
    /// Whether a hook made it of the bytes that were received.
    public var isProcessed: Bool

    public init(
        name: String, facts: FileFacts? = nil, digest: Checksum? = nil, finalName: String, isProcessed: Bool = false
    ) {
        self.name = name
        self.facts = facts
        self.digest = digest
        self.finalName = finalName
        self.isProcessed = isProcessed
    }
}

/// What tells cheaply that a file is what it was (stat(2)).
public struct FileFacts: Hashable, Sendable {
    public var identity: FileIdentity
    /// Bytes.
    public var length: Int64
    /// Modification time in nanoseconds since 1970.
    public var modifiedAt: Int64
    /// Time of the last change of content or status, which nobody can set, in nanoseconds since 1970.
    public var changedAt: Int64

    public init(identity: FileIdentity, length: Int64, modifiedAt: Int64, changedAt: Int64) {
        self.identity = identity
        self.length = length
        self.modifiedAt = modifiedAt
        self.changedAt = changedAt
    }

    /// Whether these are of the same, unchanged file. The device's number counts for nothing: it may change over a restart.
    public func isSame(as other: FileFacts) -> Bool {
        identity.inode == other.identity.inode && length == other.length && modifiedAt == other.modifiedAt
            && changedAt == other.changedAt
    }
}

/// The file a task published, by which it is known again.
public struct PublishedFile: Hashable, Sendable {
    public var identity: FileIdentity
    /// Bytes.
    public var length: Int64
    /// Which bytes they are: see `StoreReader.byteVersion`.
    public var version: String

    public init(identity: FileIdentity, length: Int64, version: String) {
        self.identity = identity
        self.length = length
        self.version = version
    }
}
