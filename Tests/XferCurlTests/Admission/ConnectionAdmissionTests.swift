import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// Connections to addresses that must not be connected to are never made, whatever led there.
@Suite struct ConnectionAdmissionTests {
    private func rules(_ blocks: String...) throws -> AdmissionRules {
        AdmissionRules(AdmissionLists(deniedAddresses: try blocks.map { try #require(AddressBlock($0)) }))
    }

    private func get(_ url: String, _ spec: SessionSpec, harness: Harness? = nil) async throws -> Harness.Record {
        try await (harness ?? Harness()).run(.get(url) { $0.session = { _ in spec } })
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1"])
    func noConnectionIsMadeToADeniedAddress(host: String) async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "secret") }
        let url = "http://\(host):\(server.port)/"
        let denied = try await get(url, SessionSpec(admission: rules("127.0.0.0/8", "::1")))
        #expect(denied.error?.reason == .rejectedByPolicy && denied.error?.isRetriable == false, "\(denied.outcome)")
        #expect(denied.error?.message.contains("network.deny_addresses") == true)
        #expect(server.connectionCount == 0)
        let allowed = try await get(url, SessionSpec(admission: rules("10.0.0.0/8")))
        #expect(allowed.outcome.result == .complete, "\(allowed.outcome)")
    }

    @Test func anAllowedAddressOfTheNameIsUsedBesideADeniedOne() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "fine") }
        // Most hosts files map localhost to ::1, too; no server listens there.
        let record = try await get("http://localhost:\(server.port)/", SessionSpec(admission: rules("::1")))
        #expect(record.outcome.result == .complete)
    }

    @Test func aRefusedConnectionIsNotReportedAsDenied() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let record = try await get(closed.url("/"), SessionSpec(admission: rules("10.0.0.0/8")))
        #expect(record.error?.reason == .connectFailed)
    }

    @Test func aProxysAddressIsJudgedLikeAnyOther() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "secret") }
        for scheme in ["http", "socks5h"] {
            let key = SessionKey(proxy: "\(scheme)://127.0.0.1:\(server.port)")
            let record = try await get("http://far.test/", SessionSpec(key: key, admission: rules("127.0.0.0/8")))
            #expect(record.error?.reason == .rejectedByPolicy, "\(record.outcome)")
        }
        #expect(server.connectionCount == 0)
    }

    @Test func sessionsWithDifferentListsDoNotShareConnections() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "fine") }
        let harness = try Harness()
        #expect(try await get(server.url("/"), SessionSpec(), harness: harness).outcome.result == .complete)
        let denied = try await get(server.url("/"), SessionSpec(admission: rules("127.0.0.1")), harness: harness)
        #expect(denied.error?.reason == .rejectedByPolicy)
        #expect(try await get(server.url("/"), SessionSpec(), harness: harness).outcome.result == .complete)
        #expect(server.connectionCount == 1)
    }
}
