import Testing
import XferCore
import XferModel
import XferStore

@testable import XferManager

/// The stored hosts that demand https (RFC 6797).
@Suite struct StrictTransportTests {
    private static func host(_ name: String) -> SecureHost {
        SecureHost(
            host: name, includesSubdomains: false, expiresAt: Timestamp(seconds: 4_000_000_000),
            notedAt: Timestamp(seconds: 1_700_000_000))
    }

    @Test func aHostThatDemandsHTTPSAgainWhileItIsForgottenStaysKnown() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let commands = manager.strictTransport
        let (again, once) = (Self.host("again.example"), Self.host("once.example"))
        for known in [again, once] { commands.recorder.record(SecureHostList.Change(known: known)) }
        commands.recorder.record(SecureHostList.Change(forgotten: [again.host, once.host]))
        commands.recorder.record(SecureHostList.Change(known: again))
        try await commands.recorder.flush()
        #expect(try await manager.context.services.store.read { try $0.secureHosts.list(limit: 9) } == [again])
        await manager.shutdown(.suspend)
    }

    @Test func aClearRemovesStoredHostsThatAreNotInMemory() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let store = manager.context.services.store
        for name in ["a.example", "b.example", "c.example"] {
            try await store.write { try $0.secureHosts.set(Self.host(name)) }
        }
        #expect(try await manager.strictTransport.clear(["a.example"]).removed.isEmpty)
        #expect(
            try await store.read { try $0.secureHosts.list(limit: 9) }.map(\.host).sorted() == [
                "b.example", "c.example",
            ])
        #expect(try await manager.strictTransport.clear(nil).removed.isEmpty)
        #expect(try await store.read { try $0.secureHosts.list(limit: 9) }.isEmpty)
        await manager.shutdown(.suspend)
    }
}
