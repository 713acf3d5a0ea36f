/// The place and properties of a finished file.
public struct Destination: Hashable, Sendable, Codable {
    /// Absolute path of the directory, below an allowed root.
    public var directory: String
    /// Identity of that directory when the task was added; nil until it has been opened.
    public var directoryIdentity: FileIdentity?
    /// The file's name in the client's form; nil takes it from `Content-Disposition` or the URL.
    public var name: String?
    public var onConflict: ConflictPolicy
    /// The file's permission bits; nil is the instance's default.
    public var mode: FileMode?
    /// True if the published file gets the server's `Last-Modified` as its modification time.
    public var usesRemoteTime: Bool
    /// True if the path may have a hidden component directly beneath a home directory, such as `~/.ssh`. It does not
    /// apply to a confined task, whose path must not have any hidden component.
    public var allowsHidden = false
    /// The task's confinement, or nil if it is not confined.
    public var confinement: Confinement?

    public init(
        directory: String, directoryIdentity: FileIdentity? = nil, name: String? = nil,
        onConflict: ConflictPolicy = .rename, mode: FileMode? = nil,
        usesRemoteTime: Bool = false
    ) {
        self.directory = directory
        self.directoryIdentity = directoryIdentity
        self.name = name
        self.onConflict = onConflict
        self.mode = mode
        self.usesRemoteTime = usesRemoteTime
    }

    /// The destination of tasks that publish no file.
    public static let none = Destination(directory: "/")
}

extension Destination: ChoiceSubject {
    /// A client's choices about the file besides its place.
    public struct Choices: Hashable, Sendable {
        public var onConflict = Patch<ConflictPolicy>.unchanged
        public var mode = Patch<FileMode>.unchanged
        public var usesRemoteTime = Patch<Bool>.unchanged
        public var allowsHidden = Patch<Bool>.unchanged

        public init() {}
    }

    public static let choiceTable: [Choice<Self>] = [
        Choice(\.onConflict, \.onConflict),
        Choice(\.mode, optional: \.mode),
        Choice(\.usesRemoteTime, \.usesRemoteTime),
        Choice(\.allowsHidden, \.allowsHidden, hidden: false),
    ]
}

/// Permission bits of a file (inode(7)).
public struct FileMode: Hashable, Sendable, Codable {
    /// The mode, 0 … 0o777.
    public let bits: UInt16

    /// Creates the mode. Returns nil beyond 0o777.
    public init?(bits: UInt16) {
        guard bits <= 0o777 else { return nil }
        self.bits = bits
    }

    public init(from decoder: any Decoder) throws {
        bits = try decoder.singleValueContainer().decode(UInt16.self) & 0o777
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bits)
    }
}

extension TaskSpecification {
    /// The destination's fields that rows keep as options.
    static let destinationOptions: [StoredOption] = [
        StoredOption("onConflict", \.destination.onConflict, .own),
        StoredOption("mode", \.destination.mode, .own),
        StoredOption("usesRemoteTime", \.destination.usesRemoteTime, .own),
        StoredOption("allowsHidden", \.destination.allowsHidden, .own),
        StoredOption("confinement", \.destination.confinement, .own),
    ]
}
