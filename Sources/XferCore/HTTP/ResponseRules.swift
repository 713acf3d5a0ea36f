public import XferModel

/// What a status that is no success means: worth another try or not, and when.
public enum ResponseRules {
    /// Longest wait a server can ask for, in seconds.
    public static let longestRetryAfter: Int64 = 3600

    /// The failure a refused response stands for. `now` is the wall clock, which a `Retry-After` date is measured
    /// against.
    public static func failure(_ head: ResponseHead, from url: HTTPURL, now: Timestamp) -> TransferError {
        if head.status == 401 {
            return TransferError(
                .authFailed, "\(url.hostKey) answered 401: it wants other credentials", httpStatus: 401,
                host: url.hostKey)
        }
        if head.status == 407 {
            return TransferError(
                .authFailed, "the proxy to \(url.hostKey) answered 407: it wants other credentials", httpStatus: 407,
                host: url.hostKey)
        }
        let isRetriable = isRetriable(status: head.status)
        return TransferError(
            .httpStatus, "\(url.hostKey) answered \(head.status)\(phrase(head.status))", isRetriable: isRetriable,
            httpStatus: head.status, host: url.hostKey, retryAfter: isRetriable ? retryAfter(head, now: now) : nil)
    }

    /// 408, 425, 429, and 5xx but 501 and 505.
    public static func isRetriable(status: Int) -> Bool {
        switch status {
        case 408, 425, 429: true
        case 501, 505: false
        default: (500...599).contains(status)
        }
    }

    /// `Retry-After` (RFC 9110 §10.2.3) in seconds, clamped to 0 … 3600; nil when absent or not to be understood.
    public static func retryAfter(_ head: ResponseHead, now: Timestamp) -> Int64? {
        guard let text = head.value("Retry-After") else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            return min(Int64(text) ?? longestRetryAfter, longestRetryAfter)
        }
        guard let date = HTTPDate.parse(text) else { return nil }
        let seconds = (date.rawValue - now.rawValue + 999_999) / 1_000_000
        return min(max(seconds, 0), longestRetryAfter)
    }

    private static func phrase(_ status: Int) -> String {
        let phrases = [
            304: "Not Modified", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
            406: "Not Acceptable", 408: "Request Timeout", 410: "Gone", 412: "Precondition Failed",
            416: "Range Not Satisfiable", 425: "Too Early", 429: "Too Many Requests",
            451: "Unavailable For Legal Reasons",
            500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
            504: "Gateway Timeout", 505: "HTTP Version Not Supported",
        ]
        return phrases[status].map { " (\($0))" } ?? ""
    }
}
