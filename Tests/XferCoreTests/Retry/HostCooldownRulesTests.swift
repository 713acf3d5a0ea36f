import Testing
import XferCore
import XferModel
import XferTestSupport

/// Which answers make other tasks of a host wait.
@Suite struct HostCooldownRulesTests {
    static func error(
        _ status: Int, _ retryAfter: Int64? = nil, host: String? = "files.example"
    ) -> TransferError {
        var error = RefusalTests.error(status, host: host)
        error.retryAfter = retryAfter
        return error
    }

    static func waiting(_ id: Int64, _ target: String, _ error: TransferError) -> TransferTask {
        let task = RefusalTests.task(target)
        var other = TransferTask(
            id: TaskID(id), specification: task.specification, state: .waiting, rank: id, createdAt: task.createdAt)
        other.error = error
        return other
    }

    @Test(arguments: 400...599, [nil, 0, 1800] as [Int64?])
    func a429HoldsTheHostAnd503WithRetryAfterTheURL(status: Int, retryAfter: Int64?) {
        let expected: HostCooldownRules.Scope =
            switch (status, retryAfter) {
            case (429, _): .host
            case (503, 1800?): .url
            default: .none
            }
        let specification = RefusalTests.task().specification
        #expect(HostCooldownRules.scope(of: Self.error(status, retryAfter), to: specification) == expected)
        #expect(HostCooldownRules.scope(of: Self.error(status, retryAfter, host: nil), to: specification) == expected)
    }

    @Test(arguments: 400...599) func anAnswerFromElsewhereNeverHoldsTheHostByItself(status: Int) {
        let error = Self.error(status, 60, host: "mirror.example")
        let expected: HostCooldownRules.Scope = [429, 503].contains(status) ? .url : .none
        #expect(HostCooldownRules.scope(of: error, to: RefusalTests.task().specification) == expected)
        let mirrored = RefusalTests.task {
            $0.mirrors = [HTTPURL(scheme: .https, host: "mirror.example", port: 443, target: "/f")]
        }
        #expect(HostCooldownRules.scope(of: error, to: mirrored.specification) == .none)
    }

    @Test(arguments: [429, 503]) func anAnswerThroughAUnixSocketHoldsNoHost(status: Int) {
        let local = RefusalTests.task { $0.request.connections.unixSocket = "/run/web.sock" }
        var answer = Self.error(status, 60)
        answer.isRelayed = true
        #expect(HostCooldownRules.scope(of: answer, to: local.specification) == .none)
        // Over TLS the server has shown its certificate.
        #expect(HostCooldownRules.scope(of: Self.error(status, 60), to: local.specification) != .none)
    }

    @Test(arguments: [429, 503]) func whatAProxyOfTheTasksOwnMayHaveAnsweredHoldsNoHost(status: Int) {
        let direct = RefusalTests.task().specification
        let ownProxy = RefusalTests.task { $0.request.proxy = ProxySettings(url: "http://proxy.example:3128") }
        var refused = Self.error(status, 60)
        refused.proxy = "http://proxy.example:3128"
        #expect(HostCooldownRules.scope(of: refused, to: direct) == .none)
        var relayed = Self.error(status, 60)
        relayed.isRelayed = true
        #expect(HostCooldownRules.scope(of: relayed, to: ownProxy.specification) == .none)
        // The service's own proxy is its operator's choice, and TLS shows that the answer is the server's.
        #expect(HostCooldownRules.scope(of: relayed, to: direct) != .none)
        #expect(HostCooldownRules.scope(of: Self.error(status, 60), to: ownProxy.specification) != .none)
    }

    @Test(arguments: HTTPURL.Scheme.allCases, [false, true])
    func anAnswerOverPlainHTTPThroughAProxyIsRelayed(scheme: HTTPURL.Scheme, isViaProxy: Bool) {
        var head = ResponseHead(status: 429)
        head.isViaProxy = isViaProxy
        let url = HTTPURL(scheme: scheme, host: "files.example", port: scheme.defaultPort, target: "/f")
        let error = ResponseRules.failure(head, from: url, now: RefusalTests.now)
        #expect((error.isRelayed == true) == (isViaProxy && scheme == .http))
    }

    @Test func anotherRefusedTaskSucceedsTheCauseOfACooldown() {
        let limited = Self.waiting(2, "/a", Self.error(429))
        let busy = Self.waiting(3, "/b", Self.error(503, 60))
        let busyToo = Self.waiting(4, "/c", Self.error(503, 60))
        let failed = Self.waiting(5, "/d", Self.error(503))
        #expect(HostCooldownRules.successor(among: []) == nil)
        #expect(HostCooldownRules.successor(among: [failed, busy]) == nil)
        #expect(HostCooldownRules.successor(among: [failed, limited]) == limited)
        #expect(HostCooldownRules.successor(among: [failed, limited, busy]) == limited)
        // The one that waits longest; the 429 about another URL confirms it.
        #expect(HostCooldownRules.successor(among: [failed, busy, limited]) == busy)
        #expect(HostCooldownRules.successor(among: [failed, busy, busyToo]) == busy)
        let same = Self.waiting(6, "/b", Self.error(503, 60))
        #expect(HostCooldownRules.successor(among: [busy, same]) == nil)
    }

    @Test func aSecondURLOfTheSameServerConfirms() {
        let error = Self.error(503, 60)
        let task = RefusalTests.task("/b")
        #expect(HostCooldownRules.confirms(Self.waiting(2, "/a", error), error, to: task))
        // The same task or URL, another server, or a wait that the server has not asked for.
        #expect(!HostCooldownRules.confirms(Self.waiting(1, "/a", error), error, to: task))
        #expect(!HostCooldownRules.confirms(Self.waiting(2, "/b", error), error, to: task))
        let elsewhere = Self.error(503, 60, host: "mirror.example")
        #expect(!HostCooldownRules.confirms(Self.waiting(2, "/a", elsewhere), error, to: task))
        #expect(HostCooldownRules.confirms(Self.waiting(2, "/a", elsewhere), elsewhere, to: task))
        #expect(!HostCooldownRules.confirms(Self.waiting(2, "/a", Self.error(503)), error, to: task))
        #expect(!HostCooldownRules.confirms(Self.waiting(2, "/a", Self.error(500)), error, to: task))
    }

    @Test func theServersTimeIsHonouredUpToAnHour() {
        var random = SplitMix64(seed: 1)
        #expect(HostCooldownRules.duration(after: Self.error(503, 60), tries: 9, using: &random) == .seconds(60))
        #expect(HostCooldownRules.duration(after: Self.error(429, .max), tries: 1, using: &random) == .seconds(3600))
    }

    @Test(arguments: [nil, 0, -7] as [Int64?]) func otherwiseItIsOneSecondAtMostAndDoublesUpToFiveMinutes(given: Int64?)
    {
        var random = SplitMix64(seed: 1)
        let bounds = [
            (Int.min, 1), (0, 1), (1, 1), (2, 2), (3, 4), (6, 32), (9, 256), (10, 300), (11, 300), (Int.max, 300),
        ]
        for (tries, bound) in bounds {
            let delays = (0..<200).map { _ in
                HostCooldownRules.duration(after: Self.error(429, given), tries: tries, using: &random)
            }
            let range = Duration.milliseconds(500 * bound)...Duration.seconds(bound)
            #expect(delays.allSatisfy(range.contains), "try \(tries): \(delays)")
            // Many daemons that were refused together do not come back together.
            #expect(Set(delays).count > 100)
        }
    }
}

/// How many transfers a host was seen to serve at once.
@Suite struct HostConcurrencyTests {
    @Test func aRefusalBesideOthersIsAboutTheirNumberUntilTheHostServesMore() {
        var hosts = HostConcurrency()
        #expect(hosts.onRefusal(by: "h", whileServing: 0) == 0)
        #expect(hosts.isEmpty)
        #expect(hosts.onRefusal(by: "h", whileServing: 2) == 2)
        hosts.onServed(by: "h", count: 2)
        #expect(hosts.onRefusal(by: "h", whileServing: 2) == 2)
        hosts.onServed(by: "h", count: 3)
        #expect(hosts.onRefusal(by: "h", whileServing: 2) == 0)
        #expect(hosts.onRefusal(by: "h", whileServing: 3) == 3)
        #expect(hosts.onRefusal(by: "other", whileServing: 1) == 1)
    }

    @Test func nothingIsRememberedOfAHostThatIsNotInQuestion() {
        var hosts = HostConcurrency()
        hosts.onServed(by: "h", count: 9)
        #expect(hosts.isEmpty && !hosts.isInQuestion("h"))
        _ = hosts.onRefusal(by: "h", whileServing: 1)
        #expect(hosts.isInQuestion("h"))
        hosts.forget("h")
        #expect(hosts.isEmpty)
    }
}
