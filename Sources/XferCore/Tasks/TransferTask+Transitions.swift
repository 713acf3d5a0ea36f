import XferModel

/// Changes of several fields that transitions of `TaskStateMachine` have in common.
extension TransferTask {
    /// Sets the state. The wait of the previous state ends.
    mutating func move(to state: TaskState) {
        self.state = state
        wait = nil
    }

    /// Sets a terminal state and its time.
    mutating func end(_ state: TaskState, at now: Timestamp) {
        move(to: state)
        finishedAt = now
    }

    /// Undoes the count of a start that did not end in a failure, so that it does not use up an attempt.
    mutating func uncountAttempt() { attempts = max(0, attempts - 1) }

    /// Resets the received bytes and the length, which another response determines.
    mutating func forgetBytes() {
        received = 0
        total = nil
    }

    /// Removes the transfer of a cancelled task, whose bytes are deleted or about to be.
    mutating func forgetTransfer() {
        transferID = nil
        forgetBytes()
        sent = 0
        furthest = 0
        startedAt = nil
        outcome = TaskOutcome()
    }
}
