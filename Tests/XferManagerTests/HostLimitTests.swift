import Testing
import XferCore
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

@Suite struct HostLimitTests {
    @Test func aHostsLimitAppliesHoweverTheHostIsWritten() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        for (text, host) in [
            ("Example.ORG", "example.org"), ("example.org:443", "example.org"), ("example.org:80", "example.org"),
            ("example.org:8080", "example.org:8080"), ("[2001:DB8::1]:81", "[2001:db8::1]:81"),
        ] {
            let found = try await manager.queue.setLimits(
                ofHost: text, connections: .set(2), requestsPerMinute: .unchanged)
            #expect(found == host)
            #expect(await manager.queue.host(host).maxConnections == 2)
        }
        for text in ["", "a b", "user@example.org", "example.org/x", "example.org:99999"] {
            await #expect(throws: ManagerError.self, "\(text)") {
                _ = try await manager.queue.setLimits(ofHost: text, connections: .set(2), requestsPerMinute: .unchanged)
            }
        }
        await manager.shutdown(.suspend)
    }

    @Test func hostsBehindOneAddressShowThatTheyShareItsConnections() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { settings in
            (settings.maxActive, settings.maxActivePerHost) = (nil, nil)
        })
        await manager.scheduler.fill(["a.example", "b.example"], behind: "192.0.2.1")
        let hosts = await manager.queue.hosts()
        // The second one has one connection, though six are in use.
        #expect(hosts.map(\.window) == [5, 1])
        #expect(hosts.allSatisfy { $0.reason?.value == .sharedAddress })
        await manager.shutdown(.suspend)
    }
}

extension RunScheduler {
    /// Begins as many requests to each host as may be, after one whose answer has told its address.
    fileprivate func fill(_ hosts: [String], behind address: String) {
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        let answer = OriginWindow.Answer(http: .http1, latency: .milliseconds(10), bytes: 1, address: address)
        for host in hosts {
            let ticket = machine.origins.begin(host, at: now)
            machine.origins.end(host, ticket, .answered(answer), at: now)
            for _ in 0..<machine.origins.size(of: host) { _ = machine.origins.begin(host, at: now) }
        }
    }
}
