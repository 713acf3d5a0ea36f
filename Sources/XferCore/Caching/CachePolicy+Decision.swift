public import XferModel

/// The decision about a request, given the cached response.
public enum CacheDecision<Kept> {
    /// The kept response is used without a request to the server.
    case use(Kept)
    /// A request checks if the cached response is still valid; without conditions the server sends the whole.
    case validate(Kept, conditions: [HeaderField])
    /// The request is made as if nothing were cached.
    case fetch
    /// Nothing is cached, and no request may be made.
    case miss
}

extension CachePolicy {
    /// Decides (RFC 9111 §4, and the policies' own rules beyond it).
    ///
    /// `prefer_cache` and `only_if_cached` use any kept response, even a stale one, with any directives: the client
    /// has chosen that.
    /// - Parameters:
    ///   - kept: the responses whose key and selecting fields match.
    ///   - requestFields: the client's own: their `Cache-Control` counts under `protocol` (§5.2.1).
    public func decide<Kept>(
        among kept: [Kept], response: (Kept) -> StoredResponse, requestFields: [HeaderField], at now: Timestamp
    ) -> CacheDecision<Kept> {
        let asked = CacheDirectives(requestFields)
        // If several match, the youngest is used (§4.1).
        let best = kept.max { Self.age(response($0), now) > Self.age(response($1), now) }
        guard usesCache, let best else {
            let isOffline = self == .onlyIfCached || self == .protocol && asked.has("only-if-cached")
            return isOffline ? .miss : .fetch
        }
        let candidate = response(best)
        let conditions = Validation.conditions(for: candidate)
        switch self {
        case .reload, .reloadAll: return .fetch
        case .preferCache, .onlyIfCached: return .use(best)
        case .revalidate: return .validate(best, conditions: conditions)
        case .protocol:
            if Self.mayUse(candidate, asked, requestFields, at: now) { return .use(best) }
            if asked.has("only-if-cached") { return .miss }
            return conditions.isEmpty ? .fetch : .validate(best, conditions: conditions)
        }
    }

    /// The fields that make caches on the way forward the request to its origin (§5.2.1.4, §5.4).
    public var fieldsForOtherCaches: [HeaderField] {
        guard self == .reloadAll else { return [] }
        return [HeaderField(name: "Cache-Control", value: "no-cache"), HeaderField(name: "Pragma", value: "no-cache")]
    }

    private static func age(_ response: StoredResponse, _ now: Timestamp) -> Duration {
        Freshness(of: response, at: now).age ?? .seconds(Int64.max / 2)
    }

    /// True if the response may be used without a request (§4).
    private static func mayUse(
        _ response: StoredResponse, _ asked: CacheDirectives, _ requestFields: [HeaderField], at now: Timestamp
    ) -> Bool {
        let directives = CacheDirectives(response.fields)
        // With field names (§5.2.2.4) it applies to these fields only; validating the whole response is right then,
        // too.
        if directives.has("no-cache") || asked.has("no-cache") { return false }
        if asked.isEmpty, requestFields.firstValue(named: "Pragma")?.lowercased().contains("no-cache") == true {
            return false
        }
        let freshness = Freshness(of: response, at: now)
        guard let age = freshness.age else { return false }
        switch asked.seconds("max-age") {
        case .absent: break
        case .value(let most): if age > .seconds(most) { return false }
        case .invalid: return false
        }
        switch asked.seconds("min-fresh") {
        case .absent: break
        case .value(let least): if freshness.lifetime - age < .seconds(least) { return false }
        case .invalid: return false
        }
        if freshness.isFresh { return true }
        // §4.2.4: stale ones only where the client accepts them and the server does not forbid it.
        guard asked.has("max-stale"), !directives.has("must-revalidate"), !response.isRedirected else { return false }
        switch asked.seconds("max-stale") {
        case .absent, .invalid: return asked.isBare("max-stale")
        case .value(let most): return age - freshness.lifetime <= .seconds(most)
        }
    }
}
