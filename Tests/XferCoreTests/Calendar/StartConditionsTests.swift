import Testing
import XferCore
import XferModel

@Suite struct StartConditionsTests {
    private let noon = at("2026-01-05T12:00:00Z")

    private func night() throws -> TimeWindow { TimeWindow(times: [try #require(DailyTimes("22:00-06:00"))]) }

    private func verdict(
        _ schedule: TaskSchedule, _ dependencies: StartConditions.Dependencies = .met, zone: TimeZoneRules? = .utc,
        at now: Timestamp? = nil
    ) -> StartConditions.Verdict {
        StartConditions(schedule, zone: zone).verdict(dependencies, at: now ?? noon)
    }

    @Test func aTaskWithoutConditionsMayRun() {
        #expect(verdict(TaskSchedule()) == .open(until: nil))
        #expect(verdict(TaskSchedule(after: [TaskID(1)])) == .open(until: nil))
        #expect(verdict(TaskSchedule(notBefore: noon)) == .open(until: nil))
    }

    @Test func aTaskBeforeItsNotBeforeTimeWaits() {
        let later = noon.advanced(by: .seconds(60))
        #expect(
            verdict(TaskSchedule(notBefore: later)) == .closed(Wait(.schedule, until: later), again: later))
    }

    @Test func aTaskOutsideItsWindowWaitsForTheOpening() throws {
        let schedule = TaskSchedule(window: try night())
        let (opens, closes) = (at("2026-01-05T22:00:00Z"), at("2026-01-06T06:00:00Z"))
        #expect(verdict(schedule) == .closed(Wait(.schedule, until: opens), again: opens))
        #expect(verdict(schedule, at: opens) == .open(until: closes))
    }

    /// It has to be both: the window that is open or opens after `not_before`.
    @Test func aTaskWaitsForBothNotBeforeAndTheWindow() throws {
        let within = at("2026-01-06T01:00:00Z")
        #expect(
            verdict(TaskSchedule(notBefore: within, window: try night()))
                == .closed(Wait(.schedule, until: within), again: within))
        let between = at("2026-01-06T07:00:00Z")
        let opens = at("2026-01-06T22:00:00Z")
        #expect(
            verdict(TaskSchedule(notBefore: between, window: try night()))
                == .closed(Wait(.schedule, until: opens), again: opens))
    }

    @Test func aTaskAtItsDeadlineFails() throws {
        let deadline = noon.advanced(by: .seconds(1))
        #expect(verdict(TaskSchedule(deadline: deadline)) == .open(until: deadline))
        guard case .failed(let error) = verdict(TaskSchedule(deadline: deadline), at: deadline) else {
            Issue.record("not failed")
            return
        }
        #expect(error.reason == .deadlineExceeded && !error.isRetriable)
        #expect(error.message == "its deadline, 2026-01-05T12:00:01.000Z, has passed")
        // It is evaluated before the window opens.
        #expect(
            verdict(TaskSchedule(window: try night(), deadline: deadline))
                == .closed(Wait(.schedule, until: at("2026-01-05T22:00:00Z")), again: deadline))
    }

    @Test func aDependencyIsJudgedBeforeTheWindow() throws {
        let schedule = TaskSchedule(window: try night(), deadline: noon.advanced(by: .seconds(9)), after: [TaskID(4)])
        #expect(verdict(schedule, .open) == .closed(Wait(.dependency), again: noon.advanced(by: .seconds(9))))
        guard case .failed(let error) = verdict(schedule, .failed(TaskID(4), .cancelled)) else {
            Issue.record("not failed")
            return
        }
        #expect(error.reason == .dependencyFailed)
        #expect(error.message == "task 4, which had to complete first, has been cancelled")
        guard case .failed(let gone) = verdict(schedule, .failed(TaskID(4), nil)) else { return }
        #expect(gone.message == "task 4, which had to complete first, is gone")
    }

    /// A window whose zone cannot be read is closed, and evaluated again.
    @Test func aWindowWithoutItsZoneIsClosedAndCheckedAgain() throws {
        let again = noon.advanced(by: .seconds(300))
        #expect(
            verdict(TaskSchedule(window: try night()), zone: nil)
                == .closed(Wait(.schedule, until: again), again: again))
        #expect(verdict(TaskSchedule(notBefore: noon), zone: nil) == .open(until: nil))
    }

    @Test func conditionsThatContradictEachOtherAreRefused() throws {
        func contradiction(_ schedule: TaskSchedule) -> String? {
            StartConditions(schedule, zone: .utc).contradiction(from: noon)
        }
        let soon = noon.advanced(by: .seconds(60))
        #expect(contradiction(TaskSchedule(deadline: soon)) == nil)
        #expect(contradiction(TaskSchedule(notBefore: soon, deadline: soon.advanced(by: .seconds(1)))) == nil)
        #expect(
            contradiction(TaskSchedule(notBefore: soon, deadline: soon))
                == "the task could not start before 2026-01-05T12:01:00.000Z, and would fail at 2026-01-05T12:01:00.000Z"
        )
        #expect(contradiction(TaskSchedule(window: try night(), deadline: soon)) != nil)
        #expect(contradiction(TaskSchedule(window: try night())) == nil)
        // One that has passed is no contradiction: the task fails at once.
        #expect(contradiction(TaskSchedule(window: try night(), deadline: noon)) == nil)
    }
}
