import Testing
import XferCore
import XferModel

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
        #expect(HostCooldownRules.duration(after: Self.error(503, 60), tries: 9) == .seconds(60))
        #expect(HostCooldownRules.duration(after: Self.error(429, .max), tries: 1) == .seconds(3600))
    }

    @Test(arguments: [nil, 0, -7] as [Int64?]) func otherwiseItIsFiveSecondsAndDoublesUpToFiveMinutes(given: Int64?) {
        let delays = [Int.min, 0, 1, 2, 3, 6, 7, 8, Int.max].map {
            HostCooldownRules.duration(after: Self.error(429, given), tries: $0)
        }
        #expect(delays == [5, 5, 5, 10, 20, 160, 300, 300, 300].map { .seconds($0) })
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
