/// Where a finished file goes.
public struct Destination: Hashable, Sendable, Codable {
    /// Absolute path of the directory, below an allowed root.
    public var directory: String
    /// Identity of that directory when the task was added; nil until it has been opened.
    public var directoryIdentity: FileIdentity?
    /// The file's name as the client gave it; nil takes it from `Content-Disposition` or the URL.
    public var name: String?
    public var onConflict: ConflictPolicy
    /// Permission bits of the published file, 0 … 0o777; nil is the instance's default.
    public var mode: UInt16?
    /// Whether the published file takes the server's `Last-Modified` as its modification time.
    public var usesRemoteTime: Bool

    public init(
        directory: String, directoryIdentity: FileIdentity? = nil, name: String? = nil,
        onConflict: ConflictPolicy = .rename, mode: UInt16? = nil,
        usesRemoteTime: Bool = false
    ) {
        self.directory = directory
        self.directoryIdentity = directoryIdentity
        self.name = name
        self.onConflict = onConflict
        self.mode = mode
        self.usesRemoteTime = usesRemoteTime
    }

    /// For tasks that publish no file.
    public static let none = Destination(directory: "/")
}

extension TaskSpecification {
    /// The destination's fields that rows keep as options.
    static let destinationOptions: [StoredOption] = [
        StoredOption("onConflict", \.destination.onConflict, .own),
        StoredOption("mode", \.destination.mode, .own),
        StoredOption("usesRemoteTime", \.destination.usesRemoteTime, .own),
    ]
}

/// What happens when the final name is taken.
public enum ConflictPolicy: String, Sendable, Codable, CaseIterable {
    /// `name (1).ext`, with `.tar.gz` kept whole.
    case rename
    /// One plain rename: replaces a symbolic link, not its target.
    case overwrite
    /// Ends completed with `skipped: true`.
    case skip
    /// Ends failed with `destination_exists`.
    case fail
    /// A conditional request with the published file's validators; ends completed with `not_modified: true` when current.
    case update

    /// Whether an existing file with the name is replaced.
    public var replaces: Bool { self == .overwrite || self == .update }
}
