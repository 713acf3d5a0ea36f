import Testing
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
}
