/// The data for continuing an upload: the server's upload resource, and the last state that the server reported.
public struct UploadResumeData: Hashable, Sendable {
    /// The upload resource (`Location`), asked for its offset before anything more is sent.
    public var url: HTTPURL
    /// Bytes the server acknowledged last. Only for display: the server's answer decides.
    public var offset: Int64
    /// When the server forgets the upload (`Upload-Expires`).
    public var expiresAt: Timestamp?
    /// Most bytes the server takes in one request (`Upload-Limit: max-append-size`, or learned from 413); nil is unlimited.
    public var largestAppend: Int64?

    public init(url: HTTPURL, offset: Int64 = 0, expiresAt: Timestamp? = nil, largestAppend: Int64? = nil) {
        self.url = url
        self.offset = offset
        self.expiresAt = expiresAt
        self.largestAppend = largestAppend
    }
}
