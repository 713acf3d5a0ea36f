/// One network operation and its resume data. Durable; made when its first task starts, removed when its last one ends.
public struct Transfer: Hashable, Sendable {
    public var id: TransferID
    /// Distinguishes this database's partial files from those of another daemon that downloads into the same directory.
    public var tag: String
    public var partial: PartialLocation
    public var resumeData: ResumeData
    /// The servers that sent the kept bytes; also empty if only the built-in default policy judged them.
    public var sources: [SourceEvidence] = []
    /// The sources of the kept bytes.
    public var sourceUse = SourceUse()
    /// The intent to publish. It is set before the final rename, so that a restart can determine the result.
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
    public var partialName: String { "\(Self.namePrefix(tag))\(id).part" }

    /// The file that receives another version while the kept bytes stay.
    public var replacementName: String { "\(Self.namePrefix(tag))\(id).new.part" }

    /// The prefix of the names of all a store's working files: parts, and the copies that hooks work on.
    public static func namePrefix(_ tag: String) -> String { ".xfer-\(tag)-" }

    /// The transfer whose working file has this name; nil when it is not a working file of this store.
    public static func id(inName name: String, tag: String) -> TransferID? {
        let prefix = namePrefix(tag)
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let id = Int64(digits, radix: 10), let next = rest.dropFirst(digits.count).first, ".-".contains(next)
        else { return nil }
        return TransferID(id)
    }
}

/// The directory of a partial file, and its identity when the file was made.
public struct PartialLocation: Hashable, Sendable {
    /// Absolute path.
    public var directory: String
    /// The identity of the directory. If another directory is found there later (an unmounted disk), the task waits.
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

    /// The identity of a file that was never examined; no file has inode 0.
    public static let unknown = FileIdentity(device: 0, inode: 0)
}

/// An intended publish, committed before it is done.
public struct PublishIntent: Hashable, Sendable {
    /// Final name within the partial file's directory.
    public var finalName: String
    /// The file that is to get the name, at the time when the intent was committed: complete, with its mode and times.
    public var part: FileFacts
    /// Digest of its content, if it was verified; nil if none is known.
    public var digest: Checksum?

    public init(finalName: String, part: FileFacts, digest: Checksum? = nil) {
        self.finalName = finalName
        self.part = part
        self.digest = digest
    }
}

/// A server that sent kept bytes, recorded to judge it again when policies have changed since; see `SourceLedger`.
///
/// A redirect's server counts too: it decided where the bytes came from.
public struct SourceEvidence: Hashable, Sendable {
    public var origin: Origin
    /// DER of the server's certificates, leaf first. Empty over `http`; an empty chain over `https` is not trusted.
    public var chain: [[UInt8]]
    /// The version of TLS; nil over `http`.
    public var tls: TLSVersion?
    /// The policies that accepted it, as `AppliedPolicies.judgement` writes them.
    public var judgement: String

    public init(origin: Origin, chain: [[UInt8]], tls: TLSVersion?, judgement: String) {
        self.origin = origin
        self.chain = chain
        self.tls = tls
        self.judgement = judgement
    }

    /// Represents all servers beyond those that are recorded individually.
    ///
    /// - Parameter settings: identifies the trust settings under which each of them was accepted.
    public static func unlisted(acceptedUnder settings: String) -> SourceEvidence {
        SourceEvidence(
            origin: Origin(scheme: .https, host: "further servers", port: 443), chain: [], tls: nil,
            judgement: "\(unlistedMark)\(settings)")
    }

    /// The trust settings under which servers that are not listed were accepted; nil for a single server.
    public var settingsOfUnlisted: String? {
        guard chain.isEmpty, judgement.hasPrefix(Self.unlistedMark) else { return nil }
        return String(judgement.dropFirst(Self.unlistedMark.count))
    }

    /// True if both are the same server with the same certificates: to judge one of them is to judge both.
    public func isSameServer(as other: SourceEvidence) -> Bool {
        origin == other.origin && tls == other.tls && chain == other.chain
    }

    /// The mark of an entry for all servers; no judgement of a single server begins with it.
    private static let unlistedMark = "*"
}
