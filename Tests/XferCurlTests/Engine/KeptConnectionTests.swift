import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Connections that are kept for the next request, where hosts get turns.
@Suite struct KeptConnectionTests {
    /// More than a session keeps for ever.
    private static let hosts = 40

    @Test func eachOfManyHostsKeepsItsConnectionUntilNobodyUsesThem() async throws {
        let clock = ManualClock()
        let harness = try Harness(clock: clock, loops: 1, keptConnections: 64)
        var servers: [FaultServer] = []
        for _ in 0..<Self.hosts {
            let server = try await FaultServer()
            server.onAnyOther { _ in Reply(200, text: "x") }
            servers.append(server)
        }
        for _ in 0..<2 {
            for server in servers { #expect(try await harness.run(.get(server.url("/"))).outcome.result == .complete) }
        }
        #expect(servers.map(\.connectionCount) == Array(repeating: 1, count: Self.hosts))

        clock.advance(by: .seconds(59))
        await harness.turn()
        #expect(servers.map(\.openConnectionCount) == Array(repeating: 1, count: Self.hosts))
        clock.advance(by: .seconds(1))
        await harness.turn()
        try await eventually("all connections are closed") { servers.allSatisfy { $0.openConnectionCount == 0 } }
        #expect(try await harness.run(.get(servers[0].url("/"))).outcome.result == .complete)
    }
}
