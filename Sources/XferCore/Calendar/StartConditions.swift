public import XferModel

/// Whether a task may run now, by what it waits for: other tasks first, then the calendar.
public struct StartConditions: Sendable {
    private let schedule: TaskSchedule
    private let window: WindowCalendar?
    /// The window's zone cannot be read: it counts as closed.
    private let isBlind: Bool

    /// What stands between a task and its start, or its end.
    public enum Verdict: Hashable, Sendable {
        /// It may run; `until` is when that has to be looked at again.
        case open(until: Timestamp?)
        /// It may not; `again` is when that has to be looked at again.
        case closed(Wait, again: Timestamp?)
        /// It will not.
        case failed(TransferError)
    }

    /// How the tasks stand that have to complete first.
    public enum Dependencies: Hashable, Sendable {
        case met
        case open
        /// This task ended otherwise; the state is nil if its row was removed before its end was recorded.
        case failed(TaskID, TaskState?)
    }

    /// How long a window whose zone cannot be read is left alone.
    public static let blindInterval = Duration.seconds(300)

    /// - Parameter zone: the window's; nil when it cannot be read.
    public init(_ schedule: TaskSchedule, zone: TimeZoneRules?) {
        self.schedule = schedule
        window = zone.flatMap { zone in schedule.window.map { WindowCalendar($0, in: zone) } }
        isBlind = schedule.window != nil && zone == nil
    }

    public func verdict(_ dependencies: Dependencies, at now: Timestamp) -> Verdict {
        if let deadline = schedule.deadline, deadline <= now {
            return .failed(TransferError(.deadlineExceeded, "its deadline, \(deadline), has passed"))
        }
        switch dependencies {
        case .met: break
        case .open: return .closed(Wait(.dependency), again: schedule.deadline)
        case .failed(let id, let state): return .failed(Self.failure(of: id, state))
        }
        guard !isBlind else {
            let again = now.advanced(by: Self.blindInterval)
            return .closed(Wait(.schedule, until: again), again: earlier(again, schedule.deadline))
        }
        guard let start = nextStart(from: now) else { return .closed(Wait(.schedule), again: schedule.deadline) }
        guard start <= now else {
            return .closed(Wait(.schedule, until: start), again: earlier(start, schedule.deadline))
        }
        return .open(until: earlier(window?.nextChange(after: now), schedule.deadline))
    }

    /// The first instant from `now` on at which the calendar lets it run; nil when there is none.
    public func nextStart(from now: Timestamp) -> Timestamp? {
        let first = max(now, schedule.notBefore ?? now)
        guard let window, !window.isOpen(at: first) else { return first }
        return window.nextChange(after: first)
    }

    /// Why it could never start: it would have failed before. Nil when it can.
    public func contradiction(from now: Timestamp) -> String? {
        guard let deadline = schedule.deadline, deadline > now, !isBlind else { return nil }
        guard let start = nextStart(from: now) else { return "the window never opens" }
        guard start >= deadline else { return nil }
        return "the task could not start before \(start), and would fail at \(deadline)"
    }

    private func earlier(_ first: Timestamp?, _ second: Timestamp?) -> Timestamp? {
        [first, second].compactMap(\.self).min()
    }

    private static func failure(of id: TaskID, _ state: TaskState?) -> TransferError {
        let what = state.map { "has \($0 == .cancelled ? "been cancelled" : $0.rawValue)" } ?? "is gone"
        return TransferError(.dependencyFailed, "task \(id), which had to complete first, \(what)")
    }
}
