import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// What is deleted for its age while the wall clock is changed, and when it is trusted again.
@Suite struct RetentionTests {
    private static let day = Duration.seconds(86_400)

    /// Both clocks of a machine, moved by the test.
    private final class Machine: Sendable {
        private let reading = NIOLockedValueBox(
            ClockReading(wall: Clocks.wall(), uptime: MonotonicInstant(nanoseconds: 1_000_000_000), boot: "a"))

        var now: ClockReading { reading.withLockedValue(\.self) }

        func move(wall: Duration, uptime: Duration) {
            reading.withLockedValue { reading in
                reading.wall = reading.wall.advanced(by: wall)
                reading.uptime = reading.uptime.advanced(by: uptime)
            }
        }
    }

    private let fixture: ManagerFixture
    private let machine = Machine()

    init() async throws { fixture = try await ManagerFixture() }

    private func open() async throws -> TransferManager {
        let machine = machine
        let manager = try await fixture.open(clocks: { machine.now })
        try await manager.start()
        return manager
    }

    /// What is there of everything that is deleted for its age.
    private struct Holdings: Equatable {
        var tasks: Int64 = 0
        var results = 0
        var events = 0
        var keptParts = 0
        var failedURLs = 0
    }

    private func holdings(of manager: TransferManager, _ kept: TaskID, _ data: TaskID) async throws -> Holdings {
        try await manager.store.read { reader in
            var found = Holdings()
            found.tasks = try reader.counts.byState().values.reduce(0, +)
            found.results = try reader.results.find(of: data) == nil ? 0 : 1
            found.events = try reader.events.list(since: 0, types: [.taskAdded], limit: 100).count
            found.keptParts = try reader.tasks.find(kept)?.transferID == nil ? 0 : 1
            found.failedURLs = try reader.failedURLs.hasAny() ? 1 : 0
            return found
        }
    }

    /// A completed task with a response, and a failed one that keeps bytes and is on the list of failed URLs.
    private func fill(_ manager: TransferManager) async throws -> (kept: TaskID, data: TaskID) {
        let kept = try await fixture.add("/kept", as: "kept", to: manager, startsPaused: true)
        let data = try await fixture.add("/data", as: "data", to: manager, startsPaused: true)
        let now = machine.now.wall
        let directory = fixture.downloads
        try await manager.store.write { tx in
            guard var failed = try tx.tasks.find(kept), var ended = try tx.tasks.find(data) else { return }
            let partial = PartialLocation(directory: directory, identity: FileIdentity(device: 1, inode: 1))
            failed.transferID = try tx.transfers.insert(partial: partial, at: now).id
            failed.state = .failed
            failed.finishedAt = now
            failed.error = TransferError(.httpStatus, "gone", isRetriable: false)
            try tx.tasks.update(failed)
            try tx.failedURLs.insert(
                key: [1], urlDigest: [2], of: failed, error: TransferError(.httpStatus, "gone", isRetriable: false),
                maxCount: 100, at: now)
            ended.state = .completed
            ended.finishedAt = now
            try tx.tasks.update(ended)
            try tx.results.set(StoredResult(content: .inline([1]), length: 1), of: data, at: now)
        }
        return (kept, data)
    }

    @Test(arguments: [400, 100_000]) func aStartAfterAClockJumpDeletesNothingUntilADayHasPassed(
        days: Int
    ) async throws {
        var manager = try await open()
        let (kept, data) = try await fill(manager)
        let before = try await holdings(of: manager, kept, data)
        #expect(before == Holdings(tasks: 2, results: 1, events: 2, keptParts: 1, failedURLs: 1))
        await manager.shutdown(.suspend)
        machine.move(wall: Self.day * days, uptime: .zero)
        manager = try await open()
        try await manager.background.trimmer.trim()
        #expect(try await holdings(of: manager, kept, data) == before)
        machine.move(wall: Self.day / 2, uptime: Self.day / 2)
        try await manager.background.trimmer.trim()
        // A restart neither shortens the day nor begins it again.
        await manager.shutdown(.suspend)
        manager = try await open()
        try await manager.background.trimmer.trim()
        #expect(try await holdings(of: manager, kept, data) == before)
        machine.move(wall: Self.day / 2, uptime: Self.day / 2)
        try await manager.background.trimmer.trim()
        #expect(try await holdings(of: manager, kept, data) == Holdings())
        await manager.shutdown(.suspend)
    }

    @Test func aClockJumpWhileTheServiceRunsDeletesNothing() async throws {
        let manager = try await open()
        let (kept, data) = try await fill(manager)
        let before = try await holdings(of: manager, kept, data)
        for step in [Self.day * 400, .zero - Self.day * 800, Self.day * 400] {
            machine.move(wall: step, uptime: .seconds(1))
            await manager.onClockSet()
            try await manager.background.trimmer.trim()
            #expect(try await holdings(of: manager, kept, data) == before)
        }
        await manager.shutdown(.suspend)
    }

    @Test func expiredRecordsAreDeletedAsTimePasses() async throws {
        let manager = try await open()
        let (kept, data) = try await fill(manager)
        machine.move(wall: Self.day * 400, uptime: Self.day * 400)
        try await manager.background.trimmer.trim()
        #expect(try await holdings(of: manager, kept, data) == Holdings())
        await manager.shutdown(.suspend)
    }

    @Test func withoutARecordedClockTheNewestEventDatesTheLastRun() async throws {
        var manager = try await open()
        let (kept, data) = try await fill(manager)
        let before = try await holdings(of: manager, kept, data)
        await manager.shutdown(.suspend)
        manager = try await fixture.open(clocks: { [machine] in machine.now })
        // As an earlier version leaves it.
        try await manager.store.write { try $0.settings.set("clock.last", nil) }
        try manager.store.close()
        machine.move(wall: Self.day * 400, uptime: .zero)
        manager = try await fixture.open(clocks: { [machine] in machine.now })
        try await manager.start()
        try await manager.background.trimmer.trim()
        #expect(try await holdings(of: manager, kept, data).tasks == before.tasks)
        await manager.shutdown(.suspend)
    }

    @Test func aWaitMovesWithAClockSetWhileTheServiceWasStopped() async throws {
        var manager = try await open()
        let id = try await fixture.add("/wait", as: "wait", to: manager, startsPaused: true)
        let end = machine.now.wall.advanced(by: .seconds(1800))
        try await manager.store.write { tx in
            guard var task = try tx.tasks.find(id) else { return }
            task.state = .waiting
            task.wait = Wait(.retry, until: end)
            try tx.tasks.update(task)
        }
        await manager.shutdown(.suspend)
        machine.move(wall: Self.day * 400, uptime: .zero)
        manager = try await open()
        let task = try await manager.store.read { try $0.tasks.find(id) }
        #expect(task?.wait?.until == end.advanced(by: Self.day * 400))
        await manager.shutdown(.suspend)
    }

    @Test func cookiesThatExpiredByTheClockAreDistinguishedFromDeletedOnes() throws {
        let key = CookieChanges.Key(domain: "a.test", path: "/", name: "session")
        let later = CookieChanges.Key(domain: "a.test", path: "/", name: "deleted")
        let before = [
            key: "a.test\tFALSE\t/\tFALSE\t1000\tsession\t1", later: "a.test\tFALSE\t/\tFALSE\t9000\tdeleted\t1",
        ]
        // The server deleted one; the other one has expired by the clock alone.
        #expect(CookieChanges.expired(before, at: 5000).keys.map(\.self) == [key])
        #expect(CookieChanges.expired(before, at: 500).isEmpty)
    }
}
