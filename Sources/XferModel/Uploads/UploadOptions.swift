/// How an `upload` task sends its source to the server.
public struct UploadOptions: Hashable, Sendable, Codable {
    public var uploadProtocol: UploadProtocol
    /// Whether the source is copied to the spool directory first, so that it may change afterwards.
    public var isSpooled: Bool

    public init(uploadProtocol: UploadProtocol = .plain, isSpooled: Bool = false) {
        self.uploadProtocol = uploadProtocol
        self.isSpooled = isSpooled
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
