import Testing
import XferCore
import XferModel

/// RFC 6797 §8.
@Suite struct SecureHostListTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    private func url(_ text: String) -> HTTPURL {
        let isSecure = text.hasPrefix("https://")
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" }
        let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
        let scheme = isSecure ? HTTPURL.Scheme.https : .http
        return HTTPURL(
            scheme: scheme, host: String(colon.map { authority[..<$0] } ?? authority),
            port: colon.flatMap { UInt16(authority[authority.index(after: $0)...]) } ?? scheme.defaultPort,
            target: String(rest.dropFirst(authority.count)))
    }

    private func list(_ fields: [(String, String)]) -> SecureHostList {
        var list = SecureHostList()
        for (host, text) in fields {
            if let field = StrictTransportField(text) { _ = list.apply(field, of: host, at: now) }
        }
        return list
    }

    @Test(
        arguments: [
            // §8.3: port 80 becomes 443, any other port stays.
            ("http://example.com/a?b", "https://example.com/a?b"),
            ("http://example.com:8080/", "https://example.com:8080/"),
            ("http://example.com:443/", "https://example.com/"),
            // §8.2: a superdomain counts with includeSubDomains only.
            ("http://sub.tree.test/", "https://sub.tree.test/"),
            ("http://a.b.tree.test/", "https://a.b.tree.test/"),
            ("http://sub.example.com/", nil),
            ("http://notexample.com/", nil),
            ("http://nottree.test/", nil),
            ("http://test/", nil),
            // A name with the root's dot is the same host.
            ("http://example.com./", "https://example.com./"),
            ("https://example.com/", nil),
        ] as [(String, String?)])
    func aKnownHostIsRequestedOverHTTPS(asked: String, secured: String?) {
        let list = list([("example.com", "max-age=10"), ("tree.test", "max-age=10; includeSubDomains")])
        #expect(list.secured(url(asked), at: now)?.string == secured)
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"])
    func anAddressIsNeverAKnownHost(host: String) {
        let list = list([(host, "max-age=10")])
        #expect(list.all.isEmpty)
    }

    @Test func aDemandEndsAtItsAgeAndTheLastOneCounts() {
        var list = list([("example.com", "max-age=100"), ("example.com", "max-age=10")])
        let http = url("http://example.com/")
        #expect(list.secured(http, at: now.advanced(by: .seconds(9))) != nil)
        #expect(list.secured(http, at: now.advanced(by: .seconds(10))) == nil)
        let back = StrictTransportField(maxAge: 0)
        #expect(list.apply(back, of: "example.com", at: now)?.forgotten == ["example.com"])
        #expect(list.secured(http, at: now) == nil && list.all.isEmpty)
        #expect(list.apply(back, of: "example.com", at: now) == nil)
    }

    @Test func aSubdomainThatTakesItsDemandBackIsStillBelowItsParent() {
        let list = list([
            ("tree.test", "max-age=10; includeSubDomains"), ("sub.tree.test", "max-age=10"),
            ("sub.tree.test", "max-age=0"),
        ])
        #expect(list.secured(url("http://sub.tree.test/"), at: now) != nil)
    }

    @Test func onlyWhatChangesMoreThanTheEndOfADemandIsEssential() {
        var list = SecureHostList()
        func isEssential(_ field: StrictTransportField, after seconds: Int64) -> Bool? {
            list.apply(field, of: "example.com", at: now.advanced(by: .seconds(seconds)))?.isEssential
        }
        #expect(isEssential(StrictTransportField(maxAge: 1000), after: 0) == true)
        #expect(isEssential(StrictTransportField(maxAge: 1000), after: 5) == false)
        #expect(isEssential(StrictTransportField(maxAge: 900), after: 6) == true)
        #expect(isEssential(StrictTransportField(maxAge: 900, includesSubdomains: true), after: 7) == true)
        #expect(isEssential(StrictTransportField(maxAge: 900, includesSubdomains: true), after: 86_408) == true)
    }

    @Test func aDemandThatIsRepeatedOftenIsEssentialOnceADay() {
        var list = SecureHostList()
        let field = StrictTransportField(maxAge: 31_536_000)
        let hours = (0..<72).filter { hour in
            list.apply(field, of: "example.com", at: now.advanced(by: .seconds(Int64(hour) * 3600)))?.isEssential
                == true
        }
        #expect(hours == [0, 25, 50])
    }

    @Test func aFullListForgetsWhatHasExpiredAndThenTheOldest() {
        var list = SecureHostList()
        let most = SecureHostList.maxCount
        for number in 0..<most {
            let age = number == 7 ? 1 : 1_000_000
            let at = now.advanced(by: .microseconds(number))
            _ = list.apply(StrictTransportField(maxAge: Int64(age)), of: "h\(number).test", at: at)
        }
        #expect(list.all.count == most)
        let later = now.advanced(by: .seconds(60))
        let field = StrictTransportField(maxAge: 1000)
        #expect(list.apply(field, of: "new.test", at: later)?.forgotten == ["h7.test"])
        #expect(list.all.count == most)
        let forgotten = list.apply(field, of: "newer.test", at: later)?.forgotten ?? []
        #expect(forgotten.contains("h0.test") && !forgotten.contains("new.test"))
        #expect(list.all.count == most - forgotten.count + 1)
        // A host that is known already displaces none.
        #expect(list.apply(field, of: "new.test", at: later)?.forgotten == [])
    }

    @Test func whatIsReadAgainIsBoundedToo() {
        let hosts = (0..<SecureHostList.maxCount + 10).map { number in
            SecureHost(
                host: "h\(number).test", includesSubdomains: false, expiresAt: Timestamp(microseconds: .max),
                notedAt: now.advanced(by: .seconds(Int64(number))))
        }
        let list = SecureHostList(hosts)
        #expect(list.all.count == SecureHostList.maxCount)
        #expect(list.secured(url("http://h9.test/"), at: now) == nil)
        #expect(list.secured(url("http://h10.test/"), at: now) != nil)
    }

    @Test func namedHostsAreForgotten() {
        var list = list([("example.com", "max-age=10"), ("other.test", "max-age=10")])
        #expect(list.remove(["EXAMPLE.com.", "unknown.test"]) == ["example.com"])
        #expect(list.all.map(\.host) == ["other.test"])
    }
}
