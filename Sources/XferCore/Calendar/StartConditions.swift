public import XferModel

/// Decides whether a task may run now: by its deadline, then by the tasks that it waits for, then by its lease, then by
/// the calendar.
public struct StartConditions: Sendable {
    private let schedule: TaskSchedule
    private let window: WindowCalendar?
    /// True if the window's zone cannot be read. The window then counts as closed.
    private let isBlind: Bool
    /// The end of the task's lease, or nil if the lease has ended.
    private let leaseEnd: Timestamp?

    /// The decision that the task may run or not, and the time of the next check; nil means no fixed time.
    public enum Verdict: Hashable, Sendable {
        /// The task may run; the conditions have to be checked again at `until`.
        case open(until: Timestamp?)
        /// The task may not run now; the conditions have to be checked again at `again`.
        case closed(Wait, again: Timestamp?)
        /// The task can never run.
        case failed(TransferError)
    }

    /// The state of the tasks that have to complete first.
    public enum Dependencies: Hashable, Sendable {
        case met
        case open
        /// This task ended without completing; the state is nil if its row was removed before its end was recorded.
        case failed(TaskID, TaskState?)
    }

    /// The time for which a window whose zone cannot be read, or a lease that has ended, counts as closed before it is
    /// checked again.
    public static let blindInterval = Duration.seconds(300)

    /// - Parameters:
    ///   - zone: the window's; nil when it cannot be read.
    ///   - leaseEnd: when the task's lease ends; nil if it has ended or does not exist. Without effect on a task that
    ///     has no lease.
    public init(_ schedule: TaskSchedule, zone: TimeZoneRules?, leaseEnd: Timestamp? = nil) {
        self.schedule = schedule
        self.leaseEnd = schedule.lease == nil ? nil : leaseEnd
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
        if schedule.lease != nil, leaseEnd.map({ $0 <= now }) ?? true {
            // A renewal looks at the tasks that have a time at which they are checked.
            return .closed(Wait(.lease), again: earlier(now.advanced(by: Self.blindInterval), schedule.deadline))
        }
        guard !isBlind else {
            let again = now.advanced(by: Self.blindInterval)
            return .closed(Wait(.schedule, until: again), again: earlier(again, schedule.deadline))
        }
        guard let start = nextStart(from: now) else { return .closed(Wait(.schedule), again: schedule.deadline) }
        guard start <= now else {
            return .closed(Wait(.schedule, until: start), again: earlier(start, schedule.deadline))
        }
        return .open(until: earlier(earlier(window?.nextChange(after: now), leaseEnd), schedule.deadline))
    }

    /// The first instant from `now` on at which the calendar allows the task to run; nil if there is none.
    public func nextStart(from now: Timestamp) -> Timestamp? {
        let first = max(now, schedule.notBefore ?? now)
        guard let window, !window.isOpen(at: first) else { return first }
        return window.nextChange(after: first)
    }

    /// The reason why the task would fail before it could start; nil if it can start in time. Also nil if the deadline
    /// has passed already or the zone cannot be read: `verdict` handles both.
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
