import XferModel

/// A timer that wakes the manager at one point in time, such as the end of the earliest wait.
struct WakeTimer {
    private var armed: (target: Timestamp, task: Task<Void, Never>)?

    /// Arms the timer for `target`, replacing an earlier target; nil disarms it.
    ///
    /// It sleeps on a clock that is never set, for the time left until `target`: setting the wall clock back does not
    /// prolong a wait.
    mutating func arm(for target: Timestamp?, now: Timestamp, _ fire: @escaping @Sendable (Timestamp) async -> Void) {
        // A target that has passed was armed under another wall clock.
        if let armed, let target, armed.target == target, target > now, !armed.task.isCancelled { return }
        armed?.task.cancel()
        armed = nil
        guard let target else { return }
        let length = max(.zero, now.duration(to: target))
        let task = Task {
            guard (try? await Task.sleep(for: length, clock: .continuous)) != nil else { return }
            await fire(target)
        }
        armed = (target, task)
    }

    /// The wall clock was set: the next `arm` computes the time left again, even for the same target.
    mutating func disarm() {
        armed?.task.cancel()
        armed = nil
    }

    /// The timer has fired: the next `arm` starts a new sleep.
    mutating func onFired() { armed = nil }
}
