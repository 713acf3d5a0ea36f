import XferModel

/// Makes the requests and reads the fields of a resumable upload (draft-ietf-httpbis-resumable-upload, interop version
/// 8). `ResumableUpload` decides when to send which request.
enum ResumableUploadWire {
    private static let interopVersion: Int64 = 8
    private static let version = HeaderField(name: "Upload-Draft-Interop-Version", value: String(interopVersion))

    /// The client's request, which creates the upload. `content` is the whole source, or empty if the source is to be
    /// sent in parts. `length` is the source's length in bytes.
    static func creation(
        _ method: HTTPMethod, _ url: HTTPURL, sending content: Range<Int64>, of length: Int64
    ) -> UploadRequest {
        let headers = [
            version, complete(content.upperBound == length), HeaderField(name: "Upload-Length", value: String(length)),
        ]
        return UploadRequest(method, url, headers: headers, content: content, describesRepresentation: true)
    }

    /// The request for the number of bytes that the upload resource has received.
    static func offset(of upload: HTTPURL) -> UploadRequest { UploadRequest(.head, upload, headers: [version]) }

    /// The request that sends a part of the source. An empty part at the end of the source only requests the final
    /// response again.
    static func append(_ range: Range<Int64>, of length: Int64, to upload: HTTPURL) -> UploadRequest {
        let headers = [
            version, complete(range.upperBound == length),
            HeaderField(name: "Upload-Offset", value: String(range.lowerBound)),
            HeaderField(name: "Content-Type", value: "application/partial-upload"),
        ]
        return UploadRequest(.patch, upload, headers: headers, content: range)
    }

    static func cancellation(of upload: HTTPURL) -> UploadRequest { UploadRequest(.delete, upload, headers: [version]) }

    /// True if this is a 104 (Upload Resumption Supported) of `interopVersion`.
    static func isInterim(_ head: ResponseHead) -> Bool {
        head.status == 104 && StructuredField.integer(version.name, in: head.fields) == interopVersion
    }

    /// True if the server reports that it has the whole source; nil when it reports nothing.
    static func isComplete(_ head: ResponseHead) -> Bool? {
        StructuredField.boolean("Upload-Complete", in: head.fields)
    }

    private static func complete(_ isComplete: Bool) -> HeaderField {
        HeaderField(name: "Upload-Complete", value: isComplete ? "?1" : "?0")
    }
}

/// The `Upload-Limit` of one response, or the limits in force after several (draft-ietf-httpbis-resumable-upload,
/// Limits).
struct UploadLimits: Hashable, Sendable {
    /// `max-size`, bytes.
    var largest: Int64?
    /// `max-append-size`, bytes; at least 1.
    var largestAppend: Int64?
    /// `min-append-size`, bytes.
    var smallestAppend: Int64?
    /// `max-age`, seconds from now.
    var lifetime: Int64?

    init() {}

    /// Reads the field. The limits are empty if the field is absent, or if one of its known members is invalid: not an
    /// integer, negative, or a `max-append-size` of 0.
    init(in head: ResponseHead) {
        guard let members = StructuredField.dictionary("Upload-Limit", in: head.fields) else { return }
        var found: [String: Int64] = [:]
        for key in ["max-size", "min-size", "max-append-size", "min-append-size", "max-age"] {
            switch members[key] {
            case nil: continue
            case .integer(let value) where value >= 0: found[key] = value
            case .integer, .boolean, .bytes, .other: return
            }
        }
        if found["max-append-size"] == 0 { return }
        largest = found["max-size"]
        largestAppend = found["max-append-size"]
        smallestAppend = found["min-append-size"]
        lifetime = found["max-age"]
    }
}
