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

    /// Empty if the field is absent, or if a known member is no integer, is negative, or is a `max-append-size` of 0.
    init(in head: ResponseHead) {
        guard let members = StructuredField.dictionary("Upload-Limit", in: head.fields) else { return }
        var found: [String: Int64] = [:]
        for key in ["max-size", "min-size", "max-append-size", "min-append-size", "max-age"] {
            switch members[key] {
            case nil: continue
            case .integer(let value) where value >= 0: found[key] = value
            case .integer, .boolean, .other: return
            }
        }
        if found["max-append-size"] == 0 { return }
        largest = found["max-size"]
        largestAppend = found["max-append-size"]
        smallestAppend = found["min-append-size"]
        lifetime = found["max-age"]
    }
}
