import Testing
import XferCore
import XferModel

/// Who is in a slot, and how one leaves it for another.
@Suite struct SlotTests {
    @Test(arguments: TaskState.allCases) func aTaskThatEndedLeavesItsSlot(state: TaskState) {
        #expect(SlotRules.isOccupied(in: state) == ![.completed, .failed, .cancelled].contains(state))
    }

    @Test func aNewTaskSupersedesAllOthersInItsSlot() {
        let found = TaskState.allCases.enumerated().map { index, state in
            var task = TaskStateMachineTests.task(state)
            task.id = TaskID(Int64(index + 1))
            return task
        }
        var newcomer = TaskStateMachineTests.task(.queued)
        newcomer.id = TaskID(99)
        let superseded = SlotRules.superseded(by: newcomer.id, among: found + [newcomer])
        #expect(superseded.map(\.state) == [.queued, .waiting, .running, .paused, .staged])
        #expect(SlotRules.superseded(by: newcomer.id, among: [newcomer]).isEmpty)
    }

    /// As a cancel in every respect but the event, which is the only terminal one.
    @Test(arguments: TaskState.allCases) func beingSupersededIsACancelWithAnEventOfItsOwn(state: TaskState) {
        var superseded = TaskStateMachine(TaskStateMachineTests.task(state))
        var cancelled = superseded
        let transition = superseded.onSuperseded(by: TaskID(8), at: TaskStateMachineTests.now)
        let cancel = cancelled.onCancel(at: TaskStateMachineTests.now)
        #expect(superseded.task == cancelled.task)
        #expect(transition.action == cancel.action)
        #expect(transition.isChange == cancel.isChange)
        #expect(transition.event == (cancel.isChange ? .taskSuperseded(by: TaskID(8)) : nil))
        #expect(superseded.onSuperseded(by: TaskID(9), at: TaskStateMachineTests.now) == .unchanged)
    }

    @Test(arguments: [TaskState.queued, .paused]) func aBlockedTaskEndsBeforeItBegins(state: TaskState) {
        var machine = TaskStateMachine(TaskStateMachineTests.task(state))
        let error = TransferError(.blockedURL, "no")
        let transition = machine.onBlocked(error, at: TaskStateMachineTests.now)
        #expect(transition.event == .taskFailed(error: error))
        #expect(transition.action == .none)
        #expect(machine.task.state == .failed && machine.task.error == error)
        #expect(machine.task.finishedAt == TaskStateMachineTests.now && machine.task.attempts == 0)
        // The same task may be tried all the same.
        #expect(machine.onRetry(at: TaskStateMachineTests.now).action == .schedule)
    }
}
