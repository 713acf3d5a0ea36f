import Testing
import XferCore
import XferModel

@Suite struct PolicyResolverTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private let pin: Pin

    init() throws { pin = .key(try #require(KeyPin(digest: Array(repeating: 7, count: 32)))) }

    private func policy(_ name: String, _ hosts: String..., mode: TrustPolicy.Mode = .none) throws -> TrustPolicy {
        TrustPolicy(
            name: name, version: 1, mode: mode, pins: mode == .none ? [] : [pin],
            hosts: try hosts.map { try HostPattern($0) })
    }

    private func origin(_ host: String, _ port: UInt16 = 443, _ scheme: HTTPURL.Scheme = .https) -> Origin {
        Origin(scheme: scheme, host: host, port: port)
    }

    @Test(
        arguments: [
            ("example.org", 443, "apex"), ("example.org", 8443, "port"), ("www.example.org", 443, "one"),
            ("api.example.org", 443, "api"), ("a.b.example.org", 443, "deep"), ("x.deep.example.org", 443, "deeper"),
            ("other.test", 443, "default"), ("10.0.0.1", 443, "address"), ("[::1]", 443, "six"),
            ("10.0.0.2", 443, "default"),
            ("api.example.org.", 443, "api"),
        ] as [(String, UInt16, String)])
    func theMostSpecificPatternWins(host: String, port: UInt16, name: String) throws {
        let resolver = try PolicyResolver([
            policy("deep", ".example.org"), policy("one", "*.example.org"), policy("apex", "example.org"),
            policy("port", "example.org:8443"), policy("api", "api.example.org"), policy("deeper", ".deep.example.org"),
            policy("address", "10.0.0.1"), policy("six", "[0::1]"),
        ])
        let applied = try resolver.resolve(origin(host, port), at: now)
        #expect(applied.host.policy.name == name)
        #expect(applied.task == nil)
    }

    @Test func noConnectionIsAllowedWhileAPolicyCannotBeRead() throws {
        let resolver = try PolicyResolver([policy("a", "a.test")], unreadable: ["b"])
        for host in ["a.test", "example.org"] {
            let error = #expect(throws: PolicyResolutionError.self) { try resolver.resolve(origin(host), at: now) }
            #expect(error == .policyUnreadable("b"))
        }
        let error = TransferError(PolicyResolutionError.policyUnreadable("b"), host: "a.test")
        // Kept bytes stay, and the task is retried.
        #expect(error.reason == .policyMissing && error.isRetriable)
    }

    @Test func theOrderPoliciesAreGivenInDoesNotMatter() throws {
        let all = try [policy("a", ".example.org"), policy("b", "*.example.org"), policy("c", "www.example.org")]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let resolver = try PolicyResolver(order.map { all[$0] })
            #expect(try resolver.resolve(origin("www.example.org"), at: now).host.policy.name == "c")
        }
    }

    @Test func withoutPoliciesTheOrdinaryCheckApplies() throws {
        let applied = try PolicyResolver().resolve(origin("example.org"), at: now)
        #expect(applied == .ordinary)
        #expect(applied.host.rule == .require([.systemChain, .hostName]))
        #expect(applied.minimumTLS == .tls12)
    }

    @Test func anOperatorsDefaultReplacesTheBuiltInOne() throws {
        var fallback = try policy("default", mode: .publicKey)
        fallback.minimumTLS = .tls13
        let resolver = try PolicyResolver([fallback, policy("a", "a.test")])
        #expect(try resolver.resolve(origin("b.test"), at: now).host.policy == fallback)
        #expect(try resolver.resolve(origin("b.test"), at: now).minimumTLS == .tls13)
        #expect(try resolver.resolve(origin("a.test"), at: now).host.policy.name == "a")
    }

    @Test func aTasksPolicyCountsBesidesTheHosts() throws {
        let host = try policy("host", "www.example.org")
        var strict = try policy("strict", ".example.org", mode: .publicKey)
        strict.minimumTLS = .tls13
        let resolver = try PolicyResolver([host, strict])
        let both = try resolver.resolve(origin("www.example.org"), taskPolicy: "strict", at: now)
        #expect(both.all.map(\.policy.name) == ["host", "strict"])
        #expect(both.minimumTLS == .tls13)
        let same = try resolver.resolve(origin("www.example.org"), taskPolicy: "host", at: now)
        #expect(same.all.map(\.policy.name) == ["host"])
        let elsewhere = try resolver.resolve(origin("other.test"), taskPolicy: "strict", at: now)
        #expect(elsewhere.all.map(\.policy.name) == ["default"])
    }

    @Test func aTasksPolicyHasToMatchTheFirstURL() throws {
        let resolver = try PolicyResolver([policy("strict", ".example.org", mode: .publicKey)])
        #expect(try resolver.admit(origin("a.example.org"), taskPolicy: "strict", at: now).host.policy.name == "strict")
        #expect(throws: PolicyResolutionError.policyDoesNotMatch("strict", host: "other.test")) {
            try resolver.admit(origin("other.test"), taskPolicy: "strict", at: now)
        }
        #expect(throws: PolicyResolutionError.policyDoesNotMatch("default", host: "other.test")) {
            try resolver.admit(origin("other.test"), taskPolicy: "default", at: now)
        }
    }

    @Test func aMissingPolicyNeverFallsBackToTheDefault() throws {
        let resolver = try PolicyResolver([policy("a", "a.test")])
        #expect(throws: PolicyResolutionError.policyMissing("gone")) {
            try resolver.resolve(origin("a.test"), taskPolicy: "gone", at: now)
        }
    }

    @Test func plainHTTPToAPinnedHostIsRefused() throws {
        var expiring = try policy("expiring", "expiring.test", mode: .publicKey)
        expiring.expiresAt = now
        var trial = try policy("trial", "trial.test", "trial.lab", mode: .publicKey)
        trial.isReportOnly = true
        let resolver = try PolicyResolver([
            policy("pinned", ".pinned.test", mode: .certificate), policy("task", ".test", mode: .publicKey), expiring,
            trial, policy("free", "free.test"),
        ])
        func isRefused(_ host: String, _ task: String? = nil) throws -> Bool {
            do throws(PolicyResolutionError) {
                _ = try resolver.resolve(origin(host, 80, .http), taskPolicy: task, at: now)
                return false
            } catch {
                guard case .plainHTTP(let error) = error else { throw error }
                #expect(error.reason == .trustRejected && !error.isRetriable)
                return true
            }
        }
        #expect(try isRefused("a.pinned.test"))
        #expect(try isRefused("a.pinned.test."))
        #expect(try !isRefused("free.test"))
        #expect(try isRefused("free.test", "task"))
        #expect(try !isRefused("expiring.test"))
        #expect(try !isRefused("trial.lab"))
        #expect(try isRefused("trial.test"), "the enforced policy of .test applies")
        #expect(try !isRefused("elsewhere.example"))
    }

    @Test func anExpiredPolicyIsTheOrdinaryCheck() throws {
        var policy = try policy("p", "a.test", mode: .publicKey)
        policy.allowsInvalidCertificates = true
        policy.validatesDomainName = false
        policy.expiresAt = now
        let before = AppliedPolicy(policy, at: now.advanced(by: .seconds(-1)))
        #expect(before.rule == .require(.leafKey) && !before.isExpired && before.isPinning)
        let after = AppliedPolicy(policy, at: now)
        #expect(after.rule == .require([.systemChain, .hostName]) && after.isExpired && !after.isPinning)
        #expect(before != after)
    }

    // MARK: Report-only policies

    private func trial(_ name: String, _ hosts: String...) throws -> TrustPolicy {
        var trial = TrustPolicy(
            name: name, version: 9, mode: .publicKey, pins: [pin], hosts: try hosts.map { try HostPattern($0) })
        trial.isReportOnly = true
        trial.minimumTLS = .tls13
        trial.requiresStapledOCSP = true
        return trial
    }

    /// RFC 7469 §2.3.2: a host may have enforced pins and pins that are only reported at the same time; the latter
    /// replace nothing.
    @Test func aReportOnlyPolicyLeavesTheLessSpecificPolicyInForce() throws {
        var strict = try policy("strict", ".example.org", mode: .certificate)
        strict.minimumTLS = .tls13
        let resolver = try PolicyResolver([
            strict, trial("wide", "*.example.org"), trial("narrow", "a.example.org"), trial("lower", ".org"),
        ])
        let without = try PolicyResolver([strict])
        for host in ["a.example.org", "b.example.org", "example.org", "a.b.example.org", "else.org", "other.test"] {
            let (applied, plain) = (
                try resolver.resolve(origin(host), at: now), try without.resolve(origin(host), at: now)
            )
            #expect(applied.enforced == plain.enforced && applied.judgement == plain.judgement, "\(host)")
            #expect(applied.minimumTLS == plain.minimumTLS && !applied.enforcesStapledOCSP, "\(host)")
        }
        func reporting(_ host: String, _ task: String? = nil) throws -> [String] {
            try resolver.resolve(origin(host), taskPolicy: task, at: now).reporting.map(\.policy.name)
        }
        #expect(try reporting("a.example.org") == ["narrow", "wide"])
        #expect(try reporting("b.example.org") == ["wide"])
        #expect(try reporting("a.b.example.org") == [])
        #expect(try reporting("else.org") == ["lower"])
        // The task's own is asked as well, also where the host's is more specific.
        #expect(try reporting("a.example.org", "lower") == ["lower", "narrow", "wide"])
        #expect(try reporting("a.example.org", "wide") == ["wide", "narrow"])
        #expect(try resolver.resolve(origin("b.example.org"), taskPolicy: "lower", at: now).task == nil)
        #expect(try resolver.admit(origin("a.example.org"), taskPolicy: "wide", at: now).host.policy == strict)
    }

    @Test func anExpiredReportOnlyPolicyReplacesNothing() throws {
        let strict = try policy("strict", ".example.org", mode: .publicKey)
        var expired = try trial("expired", "a.example.org")
        expired.expiresAt = now
        let applied = try PolicyResolver([strict, expired]).resolve(origin("a.example.org"), at: now)
        #expect(applied.host.policy == strict && applied.reporting.map(\.isExpired) == [true])
        #expect(TrustDecision.judge(applied.reporting[0], TrustFacts()) == .accepted)
    }

    @Test func aReportOnlyDefaultLeavesTheOrdinaryCheckInForce() throws {
        var fallback = try trial("default")
        fallback.allowsInvalidCertificates = true
        let applied = try PolicyResolver([fallback]).resolve(origin("a.test"), at: now)
        #expect(applied.enforced == AppliedPolicies.ordinary.enforced && applied.reporting.map(\.policy) == [fallback])
    }

    @Test func theCertificateOfAReportOnlyPolicyIsShownWhereTheHostsOwnPolicyHasNone() throws {
        let (own, general) = (
            ClientCertificateFiles(certificate: "/own.pem", key: "/own.key"),
            ClientCertificateFiles(certificate: "/general.pem", key: "/general.key")
        )
        var (strict, narrow) = (try policy("strict", ".example.org"), try trial("narrow", "a.example.org"))
        func shown() throws -> ClientCertificateFiles? {
            try PolicyResolver([strict, narrow]).resolve(origin("a.example.org"), at: now).clientCertificate
        }
        narrow.clientCertificate = own
        #expect(try shown() == own)
        strict.clientCertificate = general
        #expect(try shown() == general)
        narrow.clientCertificate = nil
        #expect(try shown() == general)
    }

    @Test(arguments: [
        ("a.example.org", "*.example.org", true), ("a.example.org", ".example.org", true),
        ("*.example.org", ".example.org", true), (".a.example.org", "*.example.org", true),
        ("a.example.org:8443", "*.example.org:8443", true), ("a.example.org", "*.example.org:8443", true),
        ("a.example.org:443", "*.example.org:8443", false), ("a.example.org", ".other.org", false),
        // This one is the more specific: it has always decided.
        (".example.org", "*.a.example.org", false),
    ]) func aLaxPolicyThatDecidesInThePlaceOfAReportOnlyOneIsFound(trialed: String, lax: String, isFound: Bool) throws {
        var wildcard = try policy("lax", lax)
        wildcard.allowsInvalidCertificates = true
        let narrow = try trial("narrow", trialed)
        let found = LaxStandIn(reportOnly: "narrow", lax: "lax")
        #expect(try PolicyResolver([wildcard, narrow]).laxStandIns(at: now) == (isFound ? [found] : []))
        #expect(try PolicyResolver([wildcard]).laxStandIns(at: now) == [])
        wildcard.allowsInvalidCertificates = false
        #expect(try PolicyResolver([wildcard, narrow]).laxStandIns(at: now) == [])
    }

    @Test func aLaxDefaultPolicyDecidesInThePlaceOfEveryReportOnlyOne() throws {
        var fallback = try policy("default")
        fallback.allowsInvalidCertificates = true
        let resolver = try PolicyResolver([fallback, try trial("narrow", "a.example.org"), try trial("ip", "10.0.0.1")])
        #expect(
            resolver.laxStandIns(at: now) == [
                LaxStandIn(reportOnly: "ip", lax: "default"), LaxStandIn(reportOnly: "narrow", lax: "default"),
            ])
    }

    @Test func connectionsAreSharedBetweenEqualVersionsOnly() throws {
        var policy = try policy("p", "a.test", mode: .publicKey)
        let first = AppliedPolicies(host: AppliedPolicy(policy, at: now))
        policy.version = 2
        #expect(first != AppliedPolicies(host: AppliedPolicy(policy, at: now)))
        policy.version = 1
        #expect(first == AppliedPolicies(host: AppliedPolicy(policy, at: now)))
        #expect(first.hashValue == AppliedPolicies(host: AppliedPolicy(policy, at: now)).hashValue)
        policy.validatesDomainName = false
        #expect(first != AppliedPolicies(host: AppliedPolicy(policy, at: now)))
        #expect(first != AppliedPolicies(host: first.host, task: first.host))
    }

    @Test func duplicateNamesAndPatternsAreRefused() throws {
        #expect(throws: TrustPolicyError("a", .duplicateName)) {
            try PolicyResolver([policy("a", "a.test"), policy("a", "b.test")])
        }
        let pattern = try HostPattern("a.test")
        #expect(throws: TrustPolicyError("b", .duplicateHost(pattern, other: "a"))) {
            try PolicyResolver([policy("a", "a.test"), policy("b", "A.test.")])
        }
    }
}
