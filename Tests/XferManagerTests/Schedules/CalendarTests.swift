import NIOConcurrencyHelpers
import Testing
import XferModel
import XferProtocol
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// `not_before`, `window` and `deadline` with a clock that is set by the test.
@Suite struct CalendarTests {
    private static func night(_ zone: String? = "Europe/Berlin") throws -> TimeWindow {
        TimeWindow(times: [try #require(DailyTimes("22:00-06:00"))], zone: zone)
    }

    private func update(
        _ id: TaskID, in manager: TransferManager, _ change: (inout TaskChanges) -> Void
    ) async throws -> TransferTask {
        try await manager.tasks.update(id, .changing(change), for: ManagerFixture.caller)
    }

    private func task(_ id: TaskID, in manager: TransferManager) async throws -> TransferTask {
        try await manager.queries.task(id, for: ManagerFixture.caller)
    }

    @Test func aTaskWaitsForItsNotBeforeTime() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 1000))
        let clock = SettableClock("2026-01-05T12:00:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) {
            $0.schedule.notBefore = at("2026-01-05T13:00:00Z")
        }
        #expect(try await task(id, in: manager).wait == Wait(.schedule, until: at("2026-01-05T13:00:00Z")))
        // Resuming changes nothing, and says nothing.
        let resumed = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        #expect(resumed.changed.isEmpty && resumed.unchanged.map(\.id) == [id])
        // Not so late that the timer, which runs by the real clock, would come first on a slow machine.
        clock.set("2026-01-05T12:30:00Z")
        await manager.background.clockFollower.recomputeConditions()
        #expect(try await task(id, in: manager).state == .waiting)
        clock.set("2026-01-05T13:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        let events = try await fixture.events(of: id, in: manager)
        #expect(events == [.taskAdded, .taskWaiting, .taskStarted, .taskResponse, .taskCompleted])
        await manager.shutdown(.suspend)
    }

    /// The timer alone wakes it, after the length that the wait had.
    @Test func theTimerStartsAWaitingTask() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 1000))
        // Stands still until the task is there, however long that takes.
        let begin = Clocks.wall()
        let isHeld = NIOLockedValueBox(true)
        let manager = try await fixture.open(clock: { isHeld.withLockedValue(\.self) ? begin : Clocks.wall() })
        try await manager.start()
        let soon = begin.advanced(by: .milliseconds(300))
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.notBefore = soon }
        isHeld.withLockedValue { $0 = false }
        let ended = try await fixture.end(of: id, in: manager)
        #expect(ended.state == .completed)
        #expect(try #require(ended.startedAt) >= soon)
        #expect(try await fixture.events(of: id, in: manager).prefix(3) == [.taskAdded, .taskWaiting, .taskStarted])
        await manager.shutdown(.suspend)
    }

    @Test func aClosingWindowStopsARunningTaskAtItsCheckpoint() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", .tagged(1, length: 300_000)).next([.stall(at: 100_000, until: gate)])
        // 21:30 UTC is 22:30 in Berlin.
        let clock = SettableClock("2026-01-05T21:30:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        let window = try Self.night()
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.window = window }
        try await eventually("some bytes are there") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        clock.set("2026-01-06T05:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        let waiting = try await task(id, in: manager)
        #expect(waiting.state == .waiting && waiting.wait == Wait(.schedule, until: at("2026-01-06T21:00:00Z")))
        #expect(waiting.attempts == 0)
        gate.open()
        try await eventually("its bytes are kept") { try await task(id, in: manager).received >= 100_000 }
        clock.set("2026-01-06T21:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(fixture.server.requests.last?.headers.contains { $0.name.lowercased() == "range" } == true)
        #expect(try await fixture.events(of: id, in: manager).filter { $0 == .taskWaiting }.count == 1)
        await manager.shutdown(.suspend)
    }

    /// Waits, runs and pauses: each fails once, with the deadline as its reason; bytes are kept for a retry.
    @Test func aPassedDeadlineFailsUnfinishedTasksOnce() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", .tagged(1, length: 300_000)).next([.stall(at: 100_000, until: gate)])
        let clock = SettableClock("2026-01-05T12:00:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        let deadline = at("2026-01-05T13:00:00Z")
        let running = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.deadline = deadline }
        let paused = try await fixture.add("/a", as: "b", to: manager, startsPaused: true) {
            $0.schedule.deadline = deadline
        }
        let waiting = try await fixture.add("/a", as: "c", to: manager) {
            $0.schedule.notBefore = at("2026-01-05T12:30:00Z")
            $0.schedule.deadline = deadline
        }
        try await eventually("some bytes are there") {
            await manager.queries.progress(of: [running])[running]?.received ?? 0 >= 100_000
        }
        clock.set("2026-01-05T13:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        for id in [running, paused, waiting] {
            let failed = try await fixture.end(of: id, in: manager)
            #expect(failed.state == .failed && failed.error?.reason == .deadlineExceeded)
            #expect(try await fixture.events(of: id, in: manager).filter(\.isTerminal) == [.taskFailed])
        }
        gate.open()
        try await eventually("the run has ended") { await manager.queries.progress(of: [running]).isEmpty }
        // Tried again, it goes on from its bytes, and the deadline is forgotten.
        _ = try await manager.tasks.apply(.retry, to: [running], for: ManagerFixture.caller)
        let retried = try await fixture.end(of: running, in: manager)
        #expect(retried.state == .completed && retried.specification.schedule.deadline == nil)
        await manager.shutdown(.suspend)
    }

    @Test func aDeadlineThatHasPassedAtTheAddFailsAtOnce() async throws {
        let fixture = try await ManagerFixture()
        let clock = SettableClock("2026-01-05T12:00:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) {
            $0.schedule.deadline = at("2026-01-05T11:00:00Z")
        }
        #expect(try await task(id, in: manager).error?.reason == .deadlineExceeded)
        #expect(fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func anUnmeetableScheduleIsRefused() async throws {
        let fixture = try await ManagerFixture()
        let clock = SettableClock("2026-01-05T12:00:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        func refusal(_ change: @escaping @Sendable (inout TaskSchedule) -> Void) async -> String? {
            do {
                _ = try await fixture.add("/a", as: "a", to: manager) { change(&$0.schedule) }
                return nil
            } catch ManagerError.invalidField(let path, let reason, _) {
                return "\(path): \(reason)"
            } catch {
                return "\(error)"
            }
        }
        let window = try Self.night()
        #expect(
            await refusal {
                $0.window = window
                $0.deadline = at("2026-01-05T20:00:00Z")
            }
                == "deadline: the task could not start before 2026-01-05T21:00:00.000Z, and would fail at 2026-01-05T20:00:00.000Z"
        )
        #expect(
            await refusal { $0.window = TimeWindow(days: [.monday], zone: "Europe/Atlantis") }?
                .hasPrefix("window.zone: there is no such time zone") == true)
        #expect(
            await refusal { $0.window = TimeWindow(days: [.monday], zone: "../../etc/passwd") }
                == "window.zone: that is not the name of a time zone")
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        await #expect(throws: ManagerError.self) {
            try await update(id, in: manager) {
                $0.schedule.window = .set(TimeWindow(days: [.monday], zone: "Nowhere"))
            }
        }
        #expect(try await task(id, in: manager).specification.schedule.isEmpty)
        await manager.shutdown(.suspend)
    }

    /// Conditions can change in any unfinished state, and count at once.
    @Test func changesOfTheScheduleApplyAtOnce() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", .tagged(1, length: 300_000)).next([.stall(at: 100_000, until: gate)])
        let clock = SettableClock("2026-01-05T12:00:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("it runs") { await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000 }
        let window = try Self.night()
        let held = try await update(id, in: manager) { $0.schedule.window = .set(window) }
        #expect(held.wait == Wait(.schedule, until: at("2026-01-05T21:00:00Z")))
        gate.open()
        let later = try await update(id, in: manager) {
            $0.schedule.window = .clear
            $0.schedule.notBefore = .set(at("2026-01-07T00:00:00Z"))
        }
        #expect(later.wait == Wait(.schedule, until: at("2026-01-07T00:00:00Z")))
        let free = try await update(id, in: manager) { $0.schedule.notBefore = .clear }
        #expect(free.state == .queued && free.wait == nil)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    /// If the clock is set back or forward, the calendar evaluates every condition again.
    @Test func settingTheClockReevaluatesWaitingTasks() async throws {
        let fixture = try await ManagerFixture()
        let clock = SettableClock("2026-01-05T12:00:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        let window = try Self.night(nil)
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.window = window }
        #expect(try await task(id, in: manager).wait?.until == at("2026-01-05T22:00:00Z"))
        clock.set("2025-06-01T12:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        #expect(try await task(id, in: manager).wait?.until == at("2025-06-01T22:00:00Z"))
        clock.set("2031-06-01T12:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        #expect(try await task(id, in: manager).wait?.until == at("2031-06-01T22:00:00Z"))
        await manager.shutdown(.suspend)
    }

    /// After a restart the wait is what it was; what became due meanwhile happens at once.
    @Test func waitingTasksSurviveARestartAndOverdueOnesActAtOnce() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 1000))
        let clock = SettableClock("2026-01-05T12:00:00Z")
        var manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        let window = try Self.night()
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.window = window }
        let late = try await fixture.add("/a", as: "b", to: manager) {
            $0.schedule.notBefore = at("2026-01-05T13:00:00Z")
            $0.schedule.deadline = at("2026-01-05T14:00:00Z")
        }
        await manager.shutdown(.suspend)
        manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        #expect(try await task(id, in: manager).wait == Wait(.schedule, until: at("2026-01-05T21:00:00Z")))
        await manager.shutdown(.suspend)
        clock.set("2026-01-05T21:30:00Z")
        manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try await fixture.end(of: late, in: manager).error?.reason == .deadlineExceeded)
        await manager.shutdown(.suspend)
    }

    /// The zone's file is gone at a restart: the window counts as closed, and is evaluated again.
    @Test func aTaskWhoseZoneIsMissingWaits() async throws {
        let fixture = try await ManagerFixture()
        let zones = try fixture.directory.makeDirectory("zones")
        try FileTree.write(try FileTree.read("/usr/share/zoneinfo/Asia/Tokyo"), to: "\(zones)/Here")
        fixture.server.serve("/a", .tagged(1, length: 1000))
        let clock = SettableClock("2026-01-05T12:00:00Z")
        var manager = try await fixture.open(clock: clock.wall) { $0.zoneDirectory = zones }
        let window = try Self.night("Here")
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true) { $0.schedule.window = window }
        await manager.shutdown(.suspend)
        FileTree.remove("\(zones)/Here")
        manager = try await fixture.open(clock: clock.wall) { $0.zoneDirectory = zones }
        try await manager.start()
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        try await eventually("it waits") {
            try await task(id, in: manager).wait == Wait(.schedule, until: at("2026-01-05T12:05:00Z"))
        }
        try FileTree.write(try FileTree.read("/usr/share/zoneinfo/Asia/Tokyo"), to: "\(zones)/Here")
        clock.set("2026-01-05T13:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    /// The calendar wakes many tasks in steps, and a paused queue does not stop it.
    @Test func manyDueTasksEndInStepsEvenInAPausedQueue() async throws {
        let fixture = try await ManagerFixture()
        let clock = SettableClock("2026-01-05T12:00:00Z")
        let manager = try await fixture.open(clock: clock.wall)
        try await manager.start()
        try await manager.queue.pause(stopsRunning: false)
        let (url, directory) = (fixture.server.url("/a"), fixture.downloads)
        let drafts = (0..<1200).map { index in
            TaskDraft(url: url) { request in
                var specification = TaskSpecification(
                    owner: Owner(uid: 0), request: request, destination: Destination(directory: directory))
                specification.schedule.notBefore = at("2026-01-05T13:00:00Z")
                specification.schedule.deadline = at("2026-01-05T15:00:00Z")
                return specification
            }
        }
        _ = try await manager.tasks.add(drafts, for: ManagerFixture.caller)
        #expect(try await manager.store.read { try $0.counts.byState() } == [.waiting: 1200])
        clock.set("2026-01-05T14:00:00Z")
        try await manager.scheduler.settleConditions()
        await manager.scheduler.schedule()
        try await eventually("all are woken") {
            try await manager.store.read { try $0.counts.byState() } == [.queued: 1200]
        }
        clock.set("2026-01-05T15:00:00Z")
        await manager.background.clockFollower.recomputeConditions()
        #expect(try await manager.store.read { try $0.counts.byState() } == [.failed: 1200])
        await manager.shutdown(.suspend)
    }
}
