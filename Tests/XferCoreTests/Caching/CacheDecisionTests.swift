import Testing
import XferCore
import XferModel

/// The six policies, and what `Cache-Control` says about using what is kept (RFC 9111 §4, §5.2).
@Suite struct CacheDecisionTests {
    private static let tagged = Sample.response(("Cache-Control", "max-age=10"), ("ETag", "\"a\""))
    private static let bare = Sample.response(("Cache-Control", "max-age=10"))

    @Test func withoutAStoredResponseEveryPolicyFetchesOrMisses() {
        for policy in CachePolicy.allCases {
            #expect(policy.decided(at: 0) == (policy == .onlyIfCached ? .miss : .fetch), "\(policy)")
        }
    }

    @Test(arguments: [
        (CachePolicy.protocol, Decided.use, Decided.validate(["If-None-Match"])), (.reload, .fetch, .fetch),
        (.reloadAll, .fetch, .fetch), (.preferCache, .use, .use), (.onlyIfCached, .use, .use),
        (.revalidate, .validate(["If-None-Match"]), .validate(["If-None-Match"])),
    ])
    func eachPolicyDecidesOnFreshAndStaleResponses(_ policy: CachePolicy, _ fresh: Decided, _ stale: Decided) {
        #expect(policy.decided(Self.tagged, at: 5) == fresh)
        #expect(policy.decided(Self.tagged, at: 15) == stale)
    }

    @Test func aStaleResponseWithoutAValidatorIsFetchedAgain() {
        #expect(CachePolicy.protocol.decided(Self.bare, at: 15) == .fetch)
        #expect(CachePolicy.revalidate.decided(Self.bare, at: 5) == .validate([]))
    }

    @Test(arguments: ["no-cache, max-age=100", "max-age=100, no-cache=\"Set-Cookie\""])
    func aNoCacheResponseIsAlwaysRevalidated(_ text: String) {
        let kept = Sample.response(("Cache-Control", text), ("ETag", "\"a\""))
        #expect(CachePolicy.protocol.decided(kept, at: 1) == .validate(["If-None-Match"]))
        #expect(CachePolicy.preferCache.decided(kept, at: 1) == .use)
    }

    @Test func cacheDirectivesOfTheRequestAreObeyed() {
        func decided(_ directive: String, _ kept: StoredResponse = Self.tagged, at seconds: Int64) -> Decided {
            CachePolicy.protocol.decided(kept, asking: Sample.request(("Cache-Control", directive)), at: seconds)
        }
        let asked = Decided.validate(["If-None-Match"])
        #expect(decided("no-cache", at: 1) == asked)
        #expect(decided("max-age=0", at: 1) == asked)
        #expect(decided("max-age=3", at: 3) == .use)
        #expect(decided("max-age=oops", at: 1) == asked)
        #expect(decided("min-fresh=5", at: 5) == .use)
        #expect(decided("min-fresh=5", at: 6) == asked)
        #expect(decided("max-stale", at: 1000) == .use)
        #expect(decided("max-stale=5", at: 15) == .use)
        #expect(decided("max-stale=5", at: 16) == asked)
        #expect(decided("max-stale=x", at: 16) == asked)
        #expect(decided("only-if-cached", at: 1) == .use)
        #expect(decided("only-if-cached", at: 99) == .miss)
    }

    @Test func mustRevalidateForbidsStaleResponses() {
        let kept = Sample.response(("Cache-Control", "max-age=10, must-revalidate"), ("ETag", "\"a\""))
        let lenient = Sample.request(("Cache-Control", "max-stale"))
        #expect(CachePolicy.protocol.decided(kept, asking: lenient, at: 9) == .use)
        #expect(CachePolicy.protocol.decided(kept, asking: lenient, at: 11) == .validate(["If-None-Match"]))
        let shared = Sample.response(("Cache-Control", "max-age=10, proxy-revalidate"), ("ETag", "\"a\""))
        #expect(CachePolicy.protocol.decided(shared, asking: lenient, at: 11) == .use)
    }

    @Test func pragmaCountsOnlyWithoutCacheControl() {
        let old = Sample.request(("Pragma", "no-cache"))
        #expect(CachePolicy.protocol.decided(Self.tagged, asking: old, at: 1) == .validate(["If-None-Match"]))
        let both = Sample.request(("Pragma", "no-cache"), ("Cache-Control", "max-age=5"))
        #expect(CachePolicy.protocol.decided(Self.tagged, asking: both, at: 1) == .use)
    }

    @Test func theYoungestOfSeveralResponsesIsUsed() {
        let old = Sample.response(("ETag", "\"old\""), ("Date", Sample.date(-50)))
        let young = Sample.response(("ETag", "\"young\""), ("Date", Sample.date(-5)))
        for kept in [[old, young], [young, old]] {
            let decision = CachePolicy.preferCache.decide(
                among: kept, response: { $0 }, requestFields: [], at: Sample.time(1))
            guard case .use(let chosen) = decision else { return #expect(Bool(false)) }
            #expect(chosen.head.etag == "\"young\"")
        }
    }

    @Test func onlyReloadAllForcesOtherCachesToRevalidate() {
        for policy in CachePolicy.allCases {
            let expected = policy == .reloadAll ? ["Cache-Control", "Pragma"] : []
            #expect(policy.fieldsForOtherCaches.map(\.name) == expected)
        }
    }
}
