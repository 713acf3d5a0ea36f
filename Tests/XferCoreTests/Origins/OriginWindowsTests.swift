import Testing
import XferModel
import XferTestSupport

@testable import XferCore

@Suite struct OriginWindowsTests {
    private static func instant(_ seconds: Double) -> MonotonicInstant { OriginWorld.instant(seconds) }

    @Test func tenThousandOriginsOfOneFileEachAreForgotten() {
        var origins = OriginWindows()
        let kept = origins.begin("kept", at: Self.instant(0))
        for number in 0..<10_000 {
            let host = "host\(number)"
            let ticket = origins.begin(host, at: Self.instant(Double(number)))
            origins.end(host, ticket, .silent, at: Self.instant(Double(number)))
        }
        #expect(origins.all.count <= OriginWindows.most && origins["kept"]?.underWay == 1)
        origins.end("kept", kept, .other, at: Self.instant(20_000))
        #expect(origins["kept"]?.underWay == 0)
    }

    @Test func aLimitPerMinuteSpacesRequests() {
        var origins = OriginWindows()
        origins.setLimits(["slow": OriginWindows.HostLimit(requestsPerMinute: 60)])
        #expect(!origins.isPaced("slow"))
        _ = origins.begin("slow", at: Self.instant(0))
        #expect(origins.isPaced("slow") && !origins.isPaced("other"))
        #expect(origins.earliestPaced == Self.instant(1))
        origins.advance(to: Self.instant(0.99))
        #expect(origins.isPaced("slow"))
        origins.advance(to: Self.instant(1))
        #expect(!origins.isPaced("slow") && origins.earliestPaced == nil)
        // A clock that goes back does not pace again.
        origins.advance(to: Self.instant(0))
        #expect(!origins.isPaced("slow"))
    }

    @Test func anOperatorsConnectionsReplaceThePoliteNumber() {
        var origins = OriginWindows()
        origins.setLimits(["a": OriginWindows.HostLimit(connections: 2)])
        _ = origins.begin("a", at: Self.instant(0))
        #expect(origins.size(of: "a") == 2 && origins.size(of: "b") == 6)
        origins.setLimits([:])
        #expect(origins.size(of: "a") == 6)
    }

    @Test func retriesOfASilentOriginAreBehindForAMinute() {
        var origins = OriginWindows()
        let ticket = origins.begin("dead", at: Self.instant(0))
        origins.end("dead", ticket, .silent, at: Self.instant(10))
        #expect(origins.behind == ["dead"])
        origins.advance(to: Self.instant(70))
        #expect(origins.behind.isEmpty)
    }

    // MARK: Hosts behind one address

    private static func answer(_ address: String?, _ http: OriginWindow.HTTP = .http1) -> OriginWindow.Outcome {
        .answered(OriginWindow.Answer(http: http, latency: .milliseconds(100), bytes: 1000, address: address))
    }

    /// Answers a request of the host, so that its address is known, and then fills it.
    private static func fill(
        _ origins: inout OriginWindows, _ host: String, at address: String?, _ http: OriginWindow.HTTP = .http1,
        most: Int = .max
    ) -> [OriginWindow.Ticket] {
        let first = origins.begin(host, at: instant(0))
        origins.end(host, first, answer(address, http), at: instant(0.1))
        var tickets: [OriginWindow.Ticket] = []
        while tickets.count < min(most, origins.size(of: host)) {
            tickets.append(origins.begin(host, at: instant(0.2)))
        }
        return tickets
    }

    @Test func hostsBehindOneAddressShareTheConnectionsOfOne() {
        var origins = OriginWindows()
        let a = Self.fill(&origins, "a", at: "192.0.2.1", most: 4)
        #expect(Self.fill(&origins, "b", at: "192.0.2.1").count == 2, "six in all")
        #expect(Self.fill(&origins, "c", at: "192.0.2.1").count == 1, "each may have one")
        #expect(Self.fill(&origins, "d", at: "192.0.2.2").count == 6)
        #expect(Self.fill(&origins, "e", at: nil).count == 6, "its address is unknown")
        for ticket in a { origins.end("a", ticket, .other, at: Self.instant(1)) }
        #expect(origins.size(of: "b") == 5 && origins.size(of: "c") == 4)
    }

    @Test func streamsOfHTTP2AndAnOperatorsConnectionsAreNotShared() {
        var origins = OriginWindows()
        origins.setLimits(["own": OriginWindows.HostLimit(connections: 5)])
        _ = Self.fill(&origins, "a", at: "192.0.2.1")
        #expect(Self.fill(&origins, "own", at: "192.0.2.1").count == 5)
        #expect(Self.fill(&origins, "streams", at: "192.0.2.1", .http2).count == 8)
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func connectionsToAnAddressAreNeverAboveTheirLimit(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var origins = OriginWindows()
        let hosts = (0..<Int.random(in: 1...12, using: &random)).map { "host\($0)" }
        // The first answer of each tells its address.
        for host in hosts {
            origins.end(host, origins.begin(host, at: Self.instant(0)), Self.answer("192.0.2.1"), at: Self.instant(0))
        }
        var underWay: [(host: String, ticket: OriginWindow.Ticket)] = []
        for step in 1...2000 {
            let now = Self.instant(Double(step) / 100)
            let host = hosts[Int.random(in: hosts.indices, using: &random)]
            if Bool.random(using: &random) {
                let own = underWay.count { $0.host == host }
                guard own < origins.size(of: host) else { continue }
                underWay.append((host, origins.begin(host, at: now)))
                // Those that have one each because none may starve.
                #expect(own == 0 || underWay.count <= OriginWindow.Bounds.polite.connections)
                #expect(underWay.count < OriginWindow.Bounds.polite.connections + hosts.count)
            } else if let index = underWay.indices.randomElement(using: &random) {
                let (host, ticket) = underWay.remove(at: index)
                origins.end(host, ticket, Self.answer("192.0.2.1"), at: now)
            }
        }
        for (host, ticket) in underWay { origins.end(host, ticket, .other, at: Self.instant(30)) }
        #expect(hosts.allSatisfy { origins[$0]?.underWay == 0 })
    }

    @Test func aCopyOfTheTableKeepsItsState() {
        var origins = OriginWindows()
        let ticket = origins.begin("a", at: Self.instant(0))
        let before = origins
        origins.end("a", ticket, .silent, at: Self.instant(1))
        #expect(before["a"]?.underWay == 1 && before.behind.isEmpty)
        #expect(origins["a"]?.underWay == 0 && origins.behind == ["a"])
    }
}
