/// A file whose bytes are sent, with its facts when the task was added: if any of them changes, nothing is sent.
public struct SourceFile: Hashable, Sendable, Codable {
    /// The absolute path in the client's form.
    public var path: String
    public var identity: FileIdentity
    /// The length in bytes.
    public var length: Int64
    /// Modification time in nanoseconds since 1970.
    public var modifiedAt: Int64
    /// The name, within the spool directory, of the copy that is sent instead of the file (`spool: true`).
    public var spoolName: String?

    public init(path: String, identity: FileIdentity, length: Int64, modifiedAt: Int64, spoolName: String? = nil) {
        self.path = path
        self.identity = identity
        self.length = length
        self.modifiedAt = modifiedAt
        self.spoolName = spoolName
    }
}
