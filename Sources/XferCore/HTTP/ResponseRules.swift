public import XferModel

/// Decides whether a response is a success, and if not, whether and when the request can be retried.
public enum ResponseRules {
    /// The longest wait that a server can request, in seconds.
    public static let longestRetryAfter: Int64 = 3600

    /// The reason why the response is not a success; nil if it is. The status is checked first; when the media type is
    /// wrong, too, the message has both.
    public static func refusal(
        of head: ResponseHead, from url: HTTPURL, acceptedStatus: StatusSet, acceptedTypes: [String],
        rejectsPages: Bool = false, now: Timestamp
    ) -> TransferError? {
        acceptedStatus.contains(head.status)
            ? typeFailure(head, from: url, acceptedTypes: acceptedTypes, rejectsPages: rejectsPages)
            : failure(head, from: url, acceptedTypes: acceptedTypes, now: now)
    }

    /// The failure for a response with a wrong media type and any status; nil when the type is right. Only a
    /// response that certainly has no content may omit its type, unless `*/*` is accepted.
    ///
    /// - Parameter rejectsPages: true if web pages are refused (`reject_html`).
    public static func typeFailure(
        _ head: ResponseHead, from url: HTTPURL, acceptedTypes: [String], rejectsPages: Bool = false
    ) -> TransferError? {
        if rejectsPages, MediaKind(head.mediaType) == .page {
            return TransferError(
                .unacceptableType, "\(url.hostKey) answered with a web page, which reject_html refuses",
                httpStatus: head.status, host: url.hostKey, cause: .webPage)
        }
        guard let complaint = complaint(about: head, acceptedTypes: acceptedTypes) else { return nil }
        return TransferError(
            .unacceptableType, "\(url.hostKey) answered with \(complaint)", httpStatus: head.status,
            host: url.hostKey)
    }

    private static func complaint(about head: ResponseHead, acceptedTypes: [String]) -> String? {
        if acceptedTypes.isEmpty { return nil }
        let wanted = acceptedTypes.joined(separator: ", ")
        guard let type = head.mediaType else {
            let isAccepted = head.contentLength == 0 || acceptedTypes.contains("*/*")
            return isAccepted ? nil : "no media type, expected \(wanted)"
        }
        let isAccepted = acceptedTypes.contains { MediaRange.matches(type, range: $0) }
        return isAccepted ? nil : "media type \(type.prefix(100)), expected \(wanted)"
    }

    /// The failure for a response with a refused status. `now` is the wall clock, to which a `Retry-After` date is
    /// compared.
    public static func failure(
        _ head: ResponseHead, from url: HTTPURL, acceptedTypes: [String] = [], now: Timestamp
    ) -> TransferError {
        var error = statusFailure(head, from: url, acceptedTypes: acceptedTypes, now: now)
        if head.isRedirected { error.isRedirected = true }
        return error
    }

    private static func statusFailure(
        _ head: ResponseHead, from url: HTTPURL, acceptedTypes: [String], now: Timestamp
    ) -> TransferError {
        if head.status == 401 {
            let schemes = ProxyChallenge(head.fields, named: "WWW-Authenticate").schemes
            let accepted = schemes.isEmpty ? "" : "; it accepts \(schemes.joined(separator: ", "))"
            let beside = url.target.contains("?") ? " except what the URL's query has" : ""
            let problem =
                head.followsCredentials ? "it requires other credentials" : "no credentials were sent\(beside)"
            var error = TransferError(
                .authFailed, "\(url.hostKey) answered 401: \(problem)\(accepted)", httpStatus: 401,
                host: url.hostKey)
            error.acceptedLogins = schemes.isEmpty ? nil : schemes
            return error
        }
        let sender = ResponseSender(head)
        if head.status == 407 {
            if let proxy = head.proxy {
                return ProxyChallenge(head.fields)
                    .failure(of: proxy, status: 407, hasLogin: head.followsProxyLogin, host: url.hostKey)
            }
            return TransferError(
                .authFailed, "\(url.hostKey) answered 407, which is only for proxies", httpStatus: 407,
                host: url.hostKey)
        }
        let isRetriable = isRetriable(status: head.status)
        let complaint = complaint(about: head, acceptedTypes: acceptedTypes).map { ", and with \($0)" } ?? ""
        var error = TransferError(
            .httpStatus, "\(sender.name(url.hostKey)) answered \(head.status)\(phrase(head.status))\(complaint)",
            isRetriable: isRetriable,
            httpStatus: head.status, host: url.hostKey, retryAfter: isRetriable ? retryAfter(head, now: now) : nil,
            proxy: sender.proxy)
        if head.isViaProxy, url.scheme == .http { error.isRelayed = true }
        return error
    }

    /// True for 408, 423 (RFC 4918 §11.3: a lock is released at some time), 425, 429, and 5xx except 501 and 505.
    public static func isRetriable(status: Int) -> Bool {
        switch status {
        case 408, 423, 425, 429: true
        case 501, 505: false
        default: (500...599).contains(status)
        }
    }

    /// `Retry-After` (RFC 9110 §10.2.3) in seconds, clamped to 0 … 3600; nil if it is absent or cannot be parsed.
    public static func retryAfter(_ head: ResponseHead, now: Timestamp) -> Int64? {
        guard let text = head.value("Retry-After") else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            return min(Int64(text, radix: 10) ?? longestRetryAfter, longestRetryAfter)
        }
        guard let date = HTTPDate.parse(text) else { return nil }
        let seconds = date.rawValue.subtractingSaturated(now.rawValue).addingSaturated(999_999) / 1_000_000
        return min(max(seconds, 0), longestRetryAfter)
    }

    private static func phrase(_ status: Int) -> String {
        let phrases = [
            304: "Not Modified", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
            406: "Not Acceptable", 408: "Request Timeout", 410: "Gone", 412: "Precondition Failed",
            416: "Range Not Satisfiable", 423: "Locked", 425: "Too Early", 429: "Too Many Requests",
            451: "Unavailable For Legal Reasons",
            500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
            504: "Gateway Timeout", 505: "HTTP Version Not Supported",
        ]
        return phrases[status].map { " (\($0))" } ?? ""
    }
}
