/// The way in which an `upload` task sends its source to the server.
public struct UploadOptions: Hashable, Sendable, Codable {
    public var uploadProtocol: UploadProtocol
    /// True if the source is copied to the spool directory first, so that it may change afterwards.
    public var isSpooled: Bool
    /// The highest number of bytes in one request, for proxies that limit contents; nil is unlimited. Only for tus.
    public var chunkSize: Int64?
    /// True if the request that creates the upload contains the first bytes (tus, `creation-with-upload`). It is
    /// optional because older rows lack it; nil is false.
    public var createsWithContent: Bool?
    /// The number of parts that are sent at the same time and joined by the server (tus, Concatenation); nil is one.
    public var parts: Int?

    public static let mostParts = 16

    public init(
        uploadProtocol: UploadProtocol = .plain, isSpooled: Bool = false, chunkSize: Int64? = nil,
        createsWithContent: Bool? = nil, parts: Int? = nil
    ) {
        self.uploadProtocol = uploadProtocol
        self.isSpooled = isSpooled
        self.chunkSize = chunkSize
        self.createsWithContent = createsWithContent
        self.parts = parts
    }
}

/// The protocol by which client and server agree on an upload's offset.
public enum UploadProtocol: String, Sendable, Codable, CaseIterable {
    /// One request; a retry starts over.
    case plain
    /// tus resumable upload protocol 1.0.
    case tus
    /// IETF resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload, interop version 8).
    case resumable
}
