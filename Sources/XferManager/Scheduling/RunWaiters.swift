import XferCore
import XferModel

/// Callers that wait for the ends of runs.
struct RunWaiters {
    /// Callers that wait for the end of a task's run.
    private(set) var ends: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    /// Callers that wait for the end of the last run.
    private var drains: [CheckedContinuation<Void, Never>] = []

    mutating func add(_ waiter: CheckedContinuation<Void, Never>, forEndOf id: TaskID) {
        ends[id, default: []].append(waiter)
    }

    mutating func addForDrain(_ waiter: CheckedContinuation<Void, Never>) { drains.append(waiter) }

    mutating func onEnd(of id: TaskID) {
        for waiter in ends.removeValue(forKey: id) ?? [] { waiter.resume() }
    }

    /// Called when the last run has ended.
    mutating func onDrained() {
        for waiter in drains { waiter.resume() }
        drains = []
    }
}

/// The holders of nested holds. Such a hold lasts until every holder has released it.
struct NestedHolds {
    private var counts: [SchedulerStateMachine.Hold: Int] = [:]
    /// Callers that wait until the tasks that waited for the network are woken.
    private(set) var wakingWaiters: [CheckedContinuation<Void, Never>] = []

    mutating func begin(_ hold: SchedulerStateMachine.Hold) {
        if hold.isNested { counts[hold, default: 0] += 1 }
    }

    /// Returns false if the hold has other holders.
    mutating func end(_ hold: SchedulerStateMachine.Hold) -> Bool {
        guard hold.isNested, let count = counts[hold] else { return true }
        counts[hold] = count > 1 ? count - 1 : nil
        return count == 1
    }

    mutating func addWakingWaiter(_ waiter: CheckedContinuation<Void, Never>) { wakingWaiters.append(waiter) }

    mutating func resumeWakingWaiters() {
        for waiter in wakingWaiters { waiter.resume() }
        wakingWaiters = []
    }
}
