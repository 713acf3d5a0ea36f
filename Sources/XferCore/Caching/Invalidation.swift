public import XferModel

/// What a request that may have changed something makes doubtful (RFC 9111 §4.4).
public enum Invalidation {
    /// URLs whose kept responses are given up after this answer; none when the request is safe or failed.
    ///
    /// - Parameters:
    ///   - url: where the answer came from.
    ///   - named: what `Location` and `Content-Location` lead to; only those of the URL's origin count.
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
    /// Whether it asks for nothing but an answer (RFC 9110 §9.2.1).
    public var isSafe: Bool { self == .get || self == .head }
}
