import NIOConcurrencyHelpers
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

/// A receive limit that changes while its task is on the way to its first byte.
@Suite struct LimitChangeTests {
    /// At one byte per second none of these would end within the test.
    private static let limit: Int64 = 1

    private static let unlimited = TaskChanges.changing {
        $0.limits.maxReceiveRate = .set(0)
    }

    /// Wherever the change meets the start, between its commit and its launch too, it is taken over.
    @Test func aLimitChangedAtAnyMomentOfTheStartApplies() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 50_000))
        let manager = try await fixture.open()
        try await manager.start()
        for index in 0..<60 {
            let id = try await fixture.add("/a", as: "a\(index)", to: manager, maxReceiveRate: Self.limit)
            for _ in 0..<(index % 12) { await Task.yield() }
            _ = try await manager.tasks.update(id, Self.unlimited, for: ManagerFixture.caller)
            #expect(try await fixture.end(of: id, in: manager).state == .completed)
        }
        await manager.shutdown(.suspend)
    }

    /// While the engine takes the attempt over there is nothing to tell the change to.
    @Test func aLimitChangedDuringTheHandOverOfTheAttemptApplies() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/b", .tagged(2, length: 50_000))
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/b", as: "b", to: manager, startsPaused: true, maxReceiveRate: Self.limit) {
            // No brief run.
            $0.request.allowsMetered = false
        }
        // The engine asks for the policies before the request goes out: who holds them holds the attempt's start.
        let policies = manager.services.policies
        let (isHeld, door) = (Gate(), ConditionLock(value: false))
        async let holding: Void = offThread {
            policies.withLockedValue { _ in
                isHeld.open()
                door.lock(whenValue: true)
                door.unlock()
            }
        }
        await isHeld.wait()
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        try await eventually("the partial file is there") { try !fixture.files().isEmpty }
        _ = try await manager.tasks.update(id, Self.unlimited, for: ManagerFixture.caller)
        door.lock()
        door.unlock(withValue: true)
        try await holding
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }
}
