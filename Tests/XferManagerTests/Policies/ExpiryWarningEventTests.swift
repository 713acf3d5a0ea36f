import NIOConcurrencyHelpers
import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// `policy.expiring` comes 30, 7 and 1 days before the end and at it, each once, whatever happens in between.
@Suite struct ExpiryWarningEventTests {
    private static let day: Int64 = 86_400
    private static let start = Timestamp(seconds: 1_800_000_000)
    private static let expiry = start.advanced(by: .seconds(40 * day))

    /// A wall clock that the test sets, at first 40 days before the policy's end.
    private let time = NIOLockedValueBox(start)

    private var clock: WallClock { { [time] in time.withLockedValue(\.self) } }

    /// So long before the policy's end, or after it when negative.
    private func setClock(days: Int64, seconds: Int64 = 0) {
        time.withLockedValue { $0 = Self.expiry.advanced(by: .seconds(-days * Self.day - seconds)) }
    }

    /// Events of all these days are kept.
    private func open(_ fixture: ManagerFixture) async throws -> TransferManager {
        let manager = try await fixture.open(
            clock: clock, change: { $0.retention.maxEventAge = .seconds(365 * Self.day) })
        try await manager.start()
        return manager
    }

    private func policy(expiresAt: Timestamp = expiry) throws -> TrustPolicy {
        TrustPolicy(
            name: "bank", mode: .publicKey,
            pins: [.key(try KeyPin("sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="))],
            hosts: [try HostPattern("bank.test")], expiresAt: expiresAt)
    }

    private func warnings(_ manager: TransferManager) async throws -> [Int] {
        let filter = EventFilter(types: [.policyExpiring])
        guard case .events(let events, _) = try await manager.queries.events(since: 0, filter, limit: 1000) else {
            return []
        }
        return events.compactMap { event in
            guard case .policyExpiring(let name, _, let expiresAt, let days) = event.payload else { return nil }
            #expect(name == "bank" && expiresAt == Self.expiry)
            return days
        }
    }

    @Test func eachExpiryWarningIsEmittedOnceEvenAcrossRestarts() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await open(fixture)
        _ = try await manager.policies.set(policy())
        #expect(try await warnings(manager) == [])

        // A running service: whatever makes it look finds the first one due, and finds it once.
        setClock(days: 30, seconds: 1)
        try await manager.reload(manager.settings)
        #expect(try await warnings(manager) == [])
        setClock(days: 30)
        try await manager.reload(manager.settings)
        try await manager.reload(manager.settings)
        #expect(try await warnings(manager) == [30])

        // A restart repeats nothing, and finds what fell due while the service was down.
        for (days, told) in [
            (Int64(30), [30]), (8, [30]), (7, [30, 7]), (6, [30, 7]), (1, [30, 7, 1]), (1, [30, 7, 1]),
        ] {
            await manager.shutdown(.suspend)
            setClock(days: days)
            manager = try await open(fixture)
            let found = try await warnings(manager)
            #expect(found == told, "\(days) days before: \(found)")
        }
        setClock(days: 0)
        try await manager.reload(manager.settings)
        #expect(try await warnings(manager) == [30, 7, 1, 0])
        await manager.shutdown(.suspend)
        setClock(days: -10)
        manager = try await open(fixture)
        #expect(try await warnings(manager) == [30, 7, 1, 0])
        await manager.shutdown(.suspend)
    }

    @Test func aServiceThatMissedSeveralWarningsEmitsOnlyTheMostUrgent() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await open(fixture)
        _ = try await manager.policies.set(policy())
        await manager.shutdown(.suspend)
        setClock(days: 1)
        manager = try await open(fixture)
        #expect(try await warnings(manager) == [1])
        await manager.shutdown(.suspend)
    }

    @Test func aRunningServiceWakesUpForAnExpiryWarning() async throws {
        let fixture = try await ManagerFixture()
        setClock(days: 30)
        // The timer is armed for some milliseconds, and looks again until the clock says that it is time.
        time.withLockedValue { $0 = $0.advanced(by: .milliseconds(-20)) }
        let manager = try await open(fixture)
        _ = try await manager.policies.set(policy())
        #expect(try await warnings(manager) == [])
        setClock(days: 30)
        try await eventually("the warning is published") { try await warnings(manager) == [30] }
        await manager.shutdown(.suspend)
    }

    @Test func aChangedPolicyIsWarnedAboutAgain() async throws {
        let fixture = try await ManagerFixture()
        setClock(days: 5)
        let manager = try await open(fixture)
        _ = try await manager.policies.set(policy())
        _ = try await manager.policies.set(policy())
        #expect(try await warnings(manager) == [7, 7])
        await manager.shutdown(.suspend)
    }
}
