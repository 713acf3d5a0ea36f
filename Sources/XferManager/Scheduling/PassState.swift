import XferModel

/// Scheduling passes, and the requests that concern starts that are committed but not launched yet.
struct PassState {
    /// One pass runs at a time; a request during a pass causes another one.
    var isRunning = false
    var isWanted = false
    /// The number of passes that have begun.
    var count = 0
    /// The time of the last pass that was made.
    var now = Timestamp(seconds: 0)
    /// The callers that wait for the end of a pass.
    var waiters: [(pass: Int, continuation: CheckedContinuation<Void, Never>)] = []
    /// Stop the run; discard the transfer if there was no such start.
    var stops: [TaskID: TransferID?] = [:]
    /// The changed rates.
    var rates: [TaskID: (receive: Int64, send: Int64)] = [:]
    /// Tasks that start although their hosts cool down, because their users have resumed them.
    private(set) var ignoringCooldown: Set<TaskID> = []

    /// Allows the task to start as soon as the limits allow it. If there are already 1,000 such tasks, it waits for its
    /// host, and its user can resume it again.
    mutating func letStart(_ id: TaskID) {
        if ignoringCooldown.count < 1000 { ignoringCooldown.insert(id) }
    }

    /// Adds a caller that waits for the end of the pass under way, or of the next one.
    mutating func addWaiter(_ continuation: CheckedContinuation<Void, Never>, forNext isNext: Bool = false) {
        waiters.append((isNext ? count + 1 : count, continuation))
    }

    /// Resumes the callers that wait for the end of the pass under way.
    mutating func resumeWaiters() {
        let due = waiters.filter { $0.pass <= count }
        waiters.removeAll { $0.pass <= count }
        for waiter in due { waiter.continuation.resume() }
    }

    /// Removes the requests that found no start. Returns the transfers of those that discard bytes.
    mutating func removeUnlaunched() -> [TransferID] {
        defer { (stops, rates) = ([:], [:]) }
        return stops.values.compactMap(\.self)
    }

    /// Removes tasks that have started, or that no longer wait for a cooldown.
    mutating func settle(_ ids: Set<TaskID>) { ignoringCooldown.subtract(ids) }
}
