import XferModel

/// The one timer of the service: wakes the manager when the earliest wait is over, and otherwise never.
struct WakeTimer {
    private var armed: (target: Timestamp, task: Task<Void, Never>)?

    /// Arms the timer for `target`, replacing what it was armed for; nil disarms it.
    ///
    /// It sleeps on a clock that is never set, for the length the wait has now: setting the wall clock back does not
    /// make a wait longer.
    mutating func arm(for target: Timestamp?, now: Timestamp, _ fire: @escaping @Sendable (Timestamp) async -> Void) {
        // One that should have fired by now was armed under another wall clock.
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

    /// The wall clock was set: the next `arm` computes the length anew, for the same target too.
    mutating func disarm() {
        armed?.task.cancel()
        armed = nil
    }

    /// The timer has fired: the next `arm` starts anew.
    mutating func onFired() { armed = nil }
}
