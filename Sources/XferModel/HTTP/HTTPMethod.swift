/// Request methods (RFC 9110 §9, RFC 5789).
public enum HTTPMethod: String, Sendable, Codable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"

    /// Whether sending it twice means the same as sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete: true
        case .post, .patch: false
        }
    }

    /// Whether it may carry content here; with GET and HEAD content has no meaning (RFC 9110 §9.3.1).
    public var allowsContent: Bool { self != .get && self != .head }

    /// Whether `params` go into the query rather than into a form.
    public var putsParametersInQuery: Bool { self == .get || self == .head || self == .delete }
}
