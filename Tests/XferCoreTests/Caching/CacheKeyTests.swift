import Testing
import XferCore
import XferModel

/// Under what responses are kept.
@Suite struct CacheKeyTests {
    private func key(_ target: String = "/f?a=1&token=x", _ change: (inout TaskSpecification) -> Void = { _ in })
        -> CacheKey?
    {
        let url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: target)
        var specification = TaskSpecification(
            owner: Owner(uid: 1000), request: TransferRequest(url: url), destination: Destination(directory: "/d"))
        change(&specification)
        return CacheKey(specification, digest: { $0 })
    }

    @Test func differentRequestersAndRequestsHaveDifferentCacheKeys() {
        let credential = Credential(scheme: .basic, user: "u", secret: .value("p"))
        let changes: [(inout TaskSpecification) -> Void] = [
            { $0.owner = Owner(uid: 1001) }, { $0.policy = "strict" }, { $0.request.credential = credential },
            { $0.request.headers = [HeaderField(name: "Authorization", value: "Bearer x")] },
            { $0.request.redirect = .deny }, { $0.request.allowsDowngrade = true },
            {
                $0.profile = "api"
                $0.request.usesProfileCredential = true
            },
        ]
        let keys = changes.map { key("/f", $0) } + [key("/f"), key("/g")]
        #expect(Set(keys).count == keys.count && !keys.contains(nil))
    }

    @Test func varyFieldsAndDestinationsAreNotPartOfTheCacheKey() {
        #expect(key() == key { $0.request.headers = [HeaderField(name: "Accept", value: "a/b")] })
        #expect(key() == key { $0.kind = .data })
        #expect(key() == key { $0.destination.directory = "/elsewhere" })
        #expect(key() == key { $0.profile = "api" })
    }

    @Test(arguments: [
        (CacheKeyRule(ignoresQuery: true), "url:https://example.org/f"),
        (CacheKeyRule(ignoredParameters: ["token"]), "url:https://example.org/f?a=1&b"),
        (CacheKeyRule(ignoredParameters: ["a", "b", "tok*"]), "url:https://example.org/f"),
        (CacheKeyRule(ignoredParameters: ["*"]), "url:https://example.org/f"),
        (CacheKeyRule(ignoredParameters: ["tok"]), "url:https://example.org/f?a=1&token=x&b"),
        (CacheKeyRule(host: "mirrors"), "url:mirrors/f?a=1&token=x&b"),
        (CacheKeyRule(text: "url:https://example.org/f"), "text:url:https://example.org/f"),
        (CacheKeyRule(), "url:https://example.org/f?a=1&token=x&b"),
    ])
    func keyRulesGiveEquivalentURLsOneCacheKey(_ rule: CacheKeyRule, _ text: String) {
        let url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f?a=1&token=x&b")
        #expect(rule.text(for: url) == text)
        #expect(CacheKeyRule?.some(rule).text(for: url) == text)
    }
}
