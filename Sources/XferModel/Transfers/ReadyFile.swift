/// A complete, verified file that waits for its final name: a staged file, or a hook's result.
///
/// It is in its transfer's directory. Before it is published, xferd checks that it has not changed since it was
/// verified.
public struct ReadyFile: Hashable, Sendable {
    /// Name within the directory.
    public var name: String
    /// The file's properties, or nil while a hook works on the file: its content cannot be used then.
    public var facts: FileFacts?
    /// Digest of its content, used when the facts have changed; nil where only the facts are known.
    public var digest: Checksum?
    /// The intended name, before `on_conflict` is applied.
    public var finalName: String
    /// True if a hook made it from the received bytes.
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

/// The facts by which a file that a task published is identified.
public struct PublishedFile: Hashable, Sendable {
    public var mark: FileMark
    /// The length in bytes.
    public var length: Int64
    /// Modification time in nanoseconds since 1970; nil of files that an earlier version published.
    public var modifiedAt: Int64?
    /// The version of its bytes: see `TransferTable.byteVersion`.
    public var version: String

    public init(mark: FileMark, length: Int64, modifiedAt: Int64? = nil, version: String) {
        self.mark = mark
        self.length = length
        self.modifiedAt = modifiedAt
        self.version = version
    }

    /// True if a file is the published one and unchanged. For files that an earlier version published only the inode
    /// number and the length are known.
    public func isStill(_ found: FileFacts) -> Bool {
        guard let modifiedAt else {
            return mark.identity.inode == found.identity.inode && length == found.length
        }
        return mark.isSame(as: found.mark) && length == found.length && modifiedAt == found.modifiedAt
    }
}
