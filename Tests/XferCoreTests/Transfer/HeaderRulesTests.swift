import Testing
import XferCore
import XferModel

@Suite struct HeaderRulesTests {
    private let home = HTTPURL(scheme: .https, host: "home.test", port: 443, target: "/")
    private let cdn = HTTPURL(scheme: .https, host: "a.cdn.test", port: 443, target: "/")
    private let plain = HTTPURL(scheme: .http, host: "a.cdn.test", port: 80, target: "/")

    private func field(_ name: String, _ value: String = "v") -> HeaderField { HeaderField(name: name, value: value) }

    private func names(_ rules: [HeaderRule], at hop: HTTPURL, fields: [HeaderField] = []) -> [String] {
        HeaderRules.apply(rules, to: fields, hop: hop, home: home) { $0 == "range" }.map { "\($0.name): \($0.value)" }
    }

    @Test func fieldsAreSetAndRemovedInOrder() {
        let rules = [
            HeaderRule(set: [field("A", "1"), field("B")], remove: ["x-gone"]),
            HeaderRule(set: [field("a", "2"), field("a", "3")], remove: ["B"]),
        ]
        #expect(
            names(rules, at: home, fields: [field("X-Gone"), field("C"), field("A", "0")]) == ["C: v", "a: 2", "a: 3"])
    }

    @Test func aRuleAppliesToItsHostsOnly() throws {
        let rules = [HeaderRule(hosts: [try HostPattern("*.cdn.test"), try HostPattern("other")], set: [field("A")])]
        #expect(names(rules, at: cdn) == ["A: v"])
        #expect(names(rules, at: home).isEmpty)
        let withPort = [HeaderRule(hosts: [try HostPattern("a.cdn.test:443")], set: [field("A")])]
        #expect(names(withPort, at: cdn) == ["A: v"])
        #expect(names(withPort, at: plain).isEmpty)
    }

    @Test func secretsAreSentOnlyToTheRulesHostsAndNeverInTheClear() throws {
        let everywhere = [HeaderRule(set: [field("Authorization"), field("A")])]
        #expect(names(everywhere, at: home) == ["Authorization: v", "A: v"])
        #expect(names(everywhere, at: cdn) == ["A: v"])
        let there = [HeaderRule(hosts: [try HostPattern("a.cdn.test")], set: [field("X-Token"), field("A")])]
        #expect(names(there, at: cdn) == ["X-Token: v", "A: v"])
        #expect(names(there, at: plain) == ["A: v"])
    }

    @Test func aRuleCannotChangeAFixedField() {
        let rules = [HeaderRule(set: [field("Range", "bytes=0-")], remove: ["RANGE"])]
        #expect(names(rules, at: home, fields: [field("Range", "bytes=5-")]) == ["Range: bytes=5-"])
    }

    @Test func framingRangeAndSelectingFieldsAreFixed() {
        var request = TransferRequest(url: home)
        request.headerRules = [
            HeaderRule(
                set: ["Content-Length", "Connection", "If-Range", "Accept", "Accept-Encoding"].map { field($0) },
                remove: ["Range", "Accept", "Accept-Encoding", "User-Agent"])
        ]
        let kept = ResumeData(
            validators: Validators(etag: "\"a\""), selectingHeaders: [field("Accept", "old")],
            segments: [Segment(start: 0, committed: 5)])
        let fields = HopHeaders.fields(
            for: request, plan: ResumeRules.plan(kept: kept), hop: HopHeaders.Hop(url: home), userAgent: "xferd/1")
        #expect(
            fields.map { "\($0.name): \($0.value)" }
                == ["Accept: old", "Accept-Encoding: identity", "Range: bytes=5-", "If-Range: \"a\""])
    }

    @Test func aFormsContentTypeCannotBeChanged() {
        var request = TransferRequest(url: home, method: .post, headers: [field("Content-Type"), field("A")])
        request.headerRules = [HeaderRule(set: [field("content-type")])]
        let fields = HopHeaders.fields(
            for: request, plan: ResumeRules.plan(kept: ResumeData()),
            hop: HopHeaders.Hop(url: home, method: .post, hasParts: true), userAgent: "xferd/1")
        #expect(fields.map(\.name) == ["A", "User-Agent", "Accept-Encoding"])
    }

    @Test func fieldsOfTheContentAreRemovedWithTheContent() {
        let named = ["Content-Type", "content-encoding", "Content-Digest", "Repr-Digest", "Last-Modified", "X-Plain"]
        let request = TransferRequest(url: home, method: .post, headers: named.map { field($0) })
        func sent(_ method: HTTPMethod) -> Int {
            HopHeaders.fields(
                for: request, plan: ResumeRules.plan(kept: ResumeData()),
                hop: HopHeaders.Hop(url: home, method: method), userAgent: "xferd/1"
            ).count
        }
        #expect(sent(.post) == 8)
        #expect(sent(.get) == 3)
    }

    @Test func theCredentialIsSentToItsOriginsOnly() {
        let request = TransferRequest(url: home)
        let credential = ResolvedCredential(scheme: .basic, user: "u", secret: "p", origins: [cdn.origin])
        func isSent(to url: HTTPURL) -> Bool {
            HopHeaders.fields(
                for: request, plan: ResumeRules.plan(kept: ResumeData()), hop: HopHeaders.Hop(url: url),
                credential: credential, userAgent: "xferd/1"
            ).firstValue(named: "Authorization") != nil
        }
        #expect(isSent(to: cdn))
        #expect(!isSent(to: home))
        #expect(!isSent(to: plain))
    }
}
