import Testing
import XferModel
import XferProtocol
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// A task under a lease runs, and its file gets its name, only while the lease is in force.
@Suite struct LeaseTests {
    private static let version = SourceVersion.tagged(51, length: 300_000)

    private func eventually(_ id: TaskID, waitsIn manager: TransferManager) async throws {
        try await XferTestSupport.eventually("it waits for its lease") {
            try await manager.queries.task(id, for: ManagerFixture.caller).wait?.reason == .lease
        }
    }

    private func later(_ duration: Duration) -> MonotonicInstant { Clocks.monotonic().advanced(by: duration) }

    @Test func aTaskWaitsUntilItsLeaseIsGivenAndForNoOther() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version)
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.lease = "fleet" }
        try await eventually(id, waitsIn: manager)
        try await manager.leases.renew("other", until: later(.seconds(3600)))
        try await eventually(id, waitsIn: manager)
        #expect(fixture.server.requests.isEmpty)
        try await manager.leases.renew("fleet", until: later(.seconds(3600)))
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func theEndOfTheLeaseStopsARunWhichGoesOnWithItsBytes() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.version).next([.stall(at: 100_000, until: gate)])
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.leases.renew("fleet", until: later(.seconds(3600)))
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.lease = "fleet" }
        try await XferTestSupport.eventually("bytes have come") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        try await manager.leases.renew("fleet", until: Clocks.monotonic())
        try await eventually(id, waitsIn: manager)
        try await XferTestSupport.eventually("it has stopped") { await manager.scheduler.transfers.isEmpty }
        gate.open()
        try await manager.leases.renew("fleet", until: later(.seconds(3600)))
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed)
        #expect(fixture.server.requests.last?.header("range") == "bytes=100000-")
        await manager.shutdown(.suspend)
    }

    /// Nobody ends the lease: the clock does.
    @Test func aLeaseThatIsNotRenewedEndsByItself() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.version).next([.stall(at: 100_000, until: gate)])
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.leases.renew("fleet", until: later(.seconds(1)))
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.lease = "fleet" }
        try await eventually(id, waitsIn: manager)
        gate.open()
        await manager.shutdown(.suspend)
    }

    @Test func aRestartEndsEveryLease() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.version).next([.stall(at: 100_000, until: gate)])
        let first = try await fixture.open()
        try await first.start()
        try await first.leases.renew("fleet", until: later(.seconds(3600)))
        let id = try await fixture.add("/a", as: "a", to: first) { $0.schedule.lease = "fleet" }
        try await XferTestSupport.eventually("bytes have come") {
            await first.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        await first.shutdown(.suspend)
        gate.open()
        let second = try await fixture.open()
        try await second.start()
        try await eventually(id, waitsIn: second)
        try await second.leases.renew("fleet", until: later(.seconds(3600)))
        #expect(try await fixture.end(of: id, in: second).state == .completed)
        await second.shutdown(.suspend)
    }

    @Test func aStagedFileGetsNoNameOnceItsLeaseIsOver() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version)
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.leases.renew("fleet", until: later(.seconds(3600)))
        let id = try await fixture.add("/a", as: "a", to: manager) {
            $0.schedule.lease = "fleet"
            $0.completion.finalize = .manual
        }
        try await XferTestSupport.eventually("it is staged") {
            try await manager.queries.task(id, for: ManagerFixture.caller).state == .staged
        }
        try await manager.leases.renew("fleet", until: Clocks.monotonic())
        await #expect(throws: ManagerError.self) {
            _ = try await manager.staging.commit([id], for: ManagerFixture.caller)
        }
        #expect(try !fixture.files().contains("a"))
        try await manager.leases.renew("fleet", until: later(.seconds(3600)))
        #expect(try await manager.staging.commit([id], for: ManagerFixture.caller).changed == [id])
        #expect(try Self.version.equals(file: "\(fixture.downloads)/a"))
        await manager.shutdown(.suspend)
    }

    @Test func guestsNameNoLease() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let guest = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        await #expect(throws: ManagerError.self) {
            _ = try await fixture.add("/a", as: "a", to: manager, for: guest) { $0.schedule.lease = "fleet" }
        }
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true, for: guest)
        await #expect(throws: ManagerError.self) {
            _ = try await manager.tasks.update(id, .changing { $0.schedule.lease = .set("fleet") }, for: guest)
        }
        // As the agent of a fleet adds it for this user.
        var added = guest
        added.mayNameLeases = true
        let leased = try await fixture.add("/a", as: "b", to: manager, for: added) { $0.schedule.lease = "fleet" }
        try await eventually(leased, waitsIn: manager)
        await manager.shutdown(.suspend)
    }

    @Test func leasesAreBoundedAndMakeRoomWhenTheyAreOver() {
        let leases = TaskLeases()
        let now = MonotonicInstant(nanoseconds: 1_000)
        let end = MonotonicInstant(nanoseconds: 2_000)
        for number in 0..<TaskLeases.maxCount { #expect(leases.renew("\(number)", until: end, at: now) == .changed) }
        #expect(leases.renew("more", until: end, at: now) == .refused)
        #expect(leases.renew("0", until: MonotonicInstant(nanoseconds: 3_000), at: now) == .prolonged)
        #expect(leases.renew("0", until: end, at: now) == .changed)
        #expect(leases.isInForce("0", at: now) && !leases.isInForce("0", at: end) && leases.isInForce(nil, at: end))
        #expect(leases.renew("more", until: MonotonicInstant(nanoseconds: 3_000), at: end) == .changed)
    }
}
