public import XferModel

/// Which kept responses a request invalidates that may have changed its resource (RFC 9111 §4.4).
public enum Invalidation {
    /// URLs whose kept responses are dropped after this answer; none when the request is safe or failed.
    ///
    /// - Parameters:
    ///   - url: the URL that the answer came from.
    ///   - named: the URLs in `Location` and `Content-Location`; only those of the URL's origin count.
    public static func targets(
        of method: HTTPMethod, url: HTTPURL, status: Int, named: [HTTPURL]
    ) -> [HTTPURL] {
        guard !method.isSafe, (200...399).contains(status) else { return [] }
        var targets = [url]
        for other in named where other.origin == url.origin && !targets.contains(other) { targets.append(other) }
        return targets
    }
}

extension HTTPMethod {
    /// Whether the method is safe (RFC 9110 §9.2.1).
    public var isSafe: Bool { self == .get || self == .head }
}
