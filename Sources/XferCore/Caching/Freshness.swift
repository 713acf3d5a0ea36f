public import XferModel

/// The age of a kept response and its lifetime (RFC 9111 §4.2), for a private cache, which ignores `s-maxage` and
/// `proxy-revalidate`.
public struct Freshness: Hashable, Sendable {
    /// The origin of the lifetime.
    public enum Source: Hashable, Sendable {
        /// `max-age` or `Expires` (§4.2.1).
        case explicit
        /// A tenth of the time since it was last modified (§4.2.2).
        case heuristic
        /// No lifetime: the response states none, or it was reached through a redirect.
        case none
    }

    /// The duration for which the response may be used without a request, counted from when the server made it.
    public let lifetime: Duration
    public let source: Source
    /// The time since the server made or confirmed it (§4.2.3). Nil when the clock was set back since.
    public let age: Duration?

    /// Upper bound of a heuristic lifetime.
    public static let longestGuess = Duration.seconds(86_400)

    public init(of response: StoredResponse, at now: Timestamp) {
        let head = response.head
        (lifetime, source) = response.isRedirected ? (.zero, .none) : Self.lifetime(of: head, response)
        age = Self.age(of: head, response, at: now)
    }

    /// True if the age is below the lifetime.
    public var isFresh: Bool { age.map { $0 < lifetime } ?? false }

    // MARK: Lifetime

    private static func lifetime(
        of head: ResponseHead, _ response: StoredResponse
    ) -> (lifetime: Duration, source: Source) {
        let directives = CacheDirectives(head.fields)
        switch directives.seconds("max-age") {
        case .value(let seconds): return (.seconds(seconds), .explicit)
        case .invalid: return (.zero, .explicit)
        case .absent: break
        }
        let date = date(of: head, response)
        if head.has("Expires") {
            // An invalid `Expires`, 0 above all, has expired (§5.3), and so have several that contradict each other.
            guard let text = head.value("Expires"), isWellFormed(text), let expires = HTTPDate.parse(text) else {
                return (.zero, .explicit)
            }
            return (max(.zero, date.duration(to: expires)), .explicit)
        }
        guard Heuristics.apply(toStatus: head.status) || directives.has("public"),
            let modified = head.lastModified.flatMap(HTTPDate.parse), modified < date
        else { return (.zero, .none) }
        return (min(modified.duration(to: date) / 10, longestGuess), .heuristic)
    }

    /// True if a date of three forms keeps to its punctuation, which `HTTPDate` does not check: a doubtful date has
    /// expired.
    private static func isWellFormed(_ text: String) -> Bool {
        // Sun Nov  6 08:49:37 1994; the other two end with their zone.
        guard text.hasSuffix(" GMT") else { return !text.contains(",") }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return words[0].hasSuffix(",") && words.dropFirst().allSatisfy { !$0.isEmpty && !$0.contains(",") }
    }

    /// The response's date. Without a `Date` it is the time of receipt (RFC 9110 §6.6.1).
    private static func date(of head: ResponseHead, _ response: StoredResponse) -> Timestamp {
        head.date.flatMap(HTTPDate.parse) ?? response.responseTime
    }

    // MARK: Age

    private static func age(of head: ResponseHead, _ response: StoredResponse, at now: Timestamp) -> Duration? {
        guard now >= response.responseTime, response.responseTime >= response.requestTime else { return nil }
        let apparent = max(.zero, date(of: head, response).duration(to: response.responseTime))
        let delay = response.requestTime.duration(to: response.responseTime)
        let corrected = reported(by: head) + delay
        return max(apparent, corrected) + response.responseTime.duration(to: now)
    }

    /// The `Age` field: the first of several values, zero for an invalid one (§5.1).
    private static func reported(by head: ResponseHead) -> Duration {
        let first = head.fields.firstValue(named: "Age")?.split(separator: ",").first
        let text = first.map { $0.filter { $0 != " " && $0 != "\t" } }
        return .seconds(text.flatMap(CacheDirectives.seconds) ?? 0)
    }
}

/// Statuses whose responses may be kept without an explicit lifetime (RFC 9110 §15.1).
enum Heuristics {
    static func apply(toStatus status: Int) -> Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }
}

extension StoredResponse {
    /// The stored status and fields.
    public var head: ResponseHead { ResponseHead(status: status, fields: fields) }

    /// The head to serve from the cache now: with its age (§5.1).
    public func head(usedAt now: Timestamp) -> ResponseHead {
        var head = head
        head.fields.removeAll { $0.name.equalsIgnoringASCIICase("Age") }
        if let age = Freshness(of: self, at: now).age {
            head.fields.append(HeaderField(name: "Age", value: "\(age.components.seconds)"))
        }
        return head
    }
}

extension ResponseHead {
    func has(_ name: String) -> Bool { fields.contains { $0.name.equalsIgnoringASCIICase(name) } }
}
