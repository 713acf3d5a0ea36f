import Testing
import XferCore
import XferModel
import XferTestSupport

/// Every state against every move: the table of legal exits, stated a second time.
@Suite struct TaskStateMachineTests {
    static let now = Timestamp(seconds: 1_800_000_000)

    static func task(_ state: TaskState, wait: WaitReason? = nil) -> TransferTask {
        let url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/file")
        let specification = TaskSpecification(
            owner: Owner(uid: 1000), request: TransferRequest(url: url), destination: Destination(directory: "/d"))
        var task = TransferTask(id: TaskID(7), specification: specification, state: state, rank: 7, createdAt: now)
        task.wait = wait.map { Wait($0) }
        if state == .running { task.attempts = 1 }
        return task
    }

    enum Command: CaseIterable { case pause, resume, cancel, retry, remove }

    static func apply(_ command: Command, to machine: inout TaskStateMachine) -> TaskTransition {
        switch command {
        case .pause: machine.onPause()
        case .resume: machine.onResume()
        case .cancel: machine.onCancel(at: now)
        case .retry: machine.onRetry(at: now)
        case .remove: machine.onRemove()
        }
    }

    /// The state a command leads to; the state itself where it cannot be obeyed.
    static func expected(_ command: Command, in state: TaskState) -> TaskState {
        switch (command, state) {
        case (.pause, .queued), (.pause, .waiting), (.pause, .running): .paused
        case (.resume, .paused): .queued
        case (.cancel, .queued), (.cancel, .waiting), (.cancel, .running), (.cancel, .paused), (.cancel, .staged):
            .cancelled
        case (.retry, .failed), (.retry, .cancelled): .queued
        default: state
        }
    }

    @Test(arguments: Command.allCases, TaskState.allCases)
    func commandsMoveTasksAsTheTableStates(command: Command, state: TaskState) {
        var machine = TaskStateMachine(Self.task(state, wait: state == .waiting ? .schedule : nil))
        let transition = Self.apply(command, to: &machine)
        #expect(machine.task.state == Self.expected(command, in: state))
        let forgets = command == .remove && state.isTerminal
        #expect(transition.isChange == (machine.task.state != state || forgets))
        #expect((transition.event != nil) == transition.isChange)
        if !transition.isChange { #expect(transition.action == .none) }
    }

    @Test(arguments: Command.allCases, TaskState.allCases)
    func aRepeatedCommandEmitsNothing(command: Command, state: TaskState) {
        guard command != .remove else { return }
        var machine = TaskStateMachine(Self.task(state))
        _ = Self.apply(command, to: &machine)
        let before = machine.task
        let again = Self.apply(command, to: &machine)
        #expect(again == .unchanged)
        #expect(machine.task == before)
    }

    @Test func aRetriedCancelledTaskBeginsAtItsFirstByteAndOneWithoutItsSourceStays() {
        var task = Self.task(.cancelled)
        (task.transferID, task.received, task.total, task.furthest, task.attempts) = (TransferID(3), 5, 9, 7, 4)
        task.startedAt = Self.now
        var machine = TaskStateMachine(task)
        #expect(machine.onRetry(at: Self.now) == TaskTransition(event: .taskResumed, action: .schedule))
        let retried = machine.task
        #expect(retried.transferID == nil && retried.received == 0 && retried.total == nil && retried.furthest == 0)
        #expect(retried.attempts == 0 && retried.startedAt == nil && retried.finishedAt == nil)
        task.specification.upload.isSpooled = true
        machine = TaskStateMachine(task)
        #expect(machine.onRetry(at: Self.now) == .unchanged)
        #expect(machine.task == task)
    }

    @Test(arguments: WaitReason.allCases)
    func resumeEndsEveryWaitButThatForConditionsOfTheTask(reason: WaitReason) {
        var machine = TaskStateMachine(Self.task(.waiting, wait: reason))
        let transition = machine.onResume()
        let stays: Set<WaitReason> = [.schedule, .dependency, .lease]
        #expect(transition.isChange == !stays.contains(reason))
        #expect(machine.task.state == (stays.contains(reason) ? .waiting : .queued))
        #expect((machine.task.wait == nil) == !stays.contains(reason))
    }

    @Test(arguments: WaitReason.allCases)
    func retryEndsTheWaitOfATaskThatWouldWaitForEver(reason: WaitReason) {
        var machine = TaskStateMachine(Self.task(.waiting, wait: reason))
        #expect(machine.onRetry(at: Self.now).isChange == [.suspect, .sourceExpired].contains(reason))
    }

    @Test(arguments: TaskState.allCases, WaitReason.allCases)
    func aNewSourceEndsTheWaitForTheFormerOneAndAFailure(state: TaskState, reason: WaitReason) {
        var task = Self.task(state, wait: state == .waiting ? reason : nil)
        (task.attempts, task.received, task.transferID) = (5, 7, TransferID(3))
        if state == .failed { task.error = TransferError(.httpStatus, "gone", httpStatus: 410) }
        var machine = TaskStateMachine(task)
        let isChange = machine.onNewSource(at: Self.now).isChange
        let ends =
            state == .failed || state == .waiting && [.retry, .sourceExpired, .hostCooldown].contains(reason)
        #expect(isChange == ends)
        guard ends else { return #expect(machine.task == task) }
        #expect(machine.task.state == .queued && machine.task.attempts == 0)
        #expect(machine.task.received == 7 && machine.task.transferID == TransferID(3))
    }

    @Test(arguments: TaskState.allCases, WaitReason.allCases)
    func anotherDirectoryEndsTheWaitForTheFormerOne(state: TaskState, reason: WaitReason) {
        var task = Self.task(state, wait: state == .waiting ? reason : nil)
        task.error = TransferError(.insufficientSpace, "/old lacks 1 GiB")
        (task.attempts, task.received, task.transferID) = (5, 7, TransferID(3))
        var machine = TaskStateMachine(task)
        let ends = state == .waiting && [.insufficientSpace, .destinationUnavailable].contains(reason)
        #expect(machine.onNewDirectory() == (ends ? TaskTransition(event: nil, action: .schedule) : .unchanged))
        guard ends else { return #expect(machine.task == task) }
        #expect(machine.task.state == .queued && machine.task.wait == nil && machine.task.error == nil)
        #expect(machine.task.attempts == 5 && machine.task.received == 7 && machine.task.transferID == TransferID(3))
    }

    @Test(arguments: TaskState.allCases) func onlyATaskThatCouldStartByItselfBecomesASuspect(state: TaskState) {
        var machine = TaskStateMachine(Self.task(state))
        let error = TransferError(.internalError, "crashed")
        let transition = machine.onSuspect(error)
        #expect(transition.isChange == [.queued, .waiting].contains(state))
        #expect(machine.task.state == (transition.isChange ? .waiting : state))
        guard transition.isChange else { return }
        #expect(transition.event == .taskWaiting(wait: Wait(.suspect), error: error))
        #expect(machine.onSuspect(error) == .unchanged)
        #expect(machine.onBlocked(Wait(.schedule)) == .unchanged && machine.onConditionsMet() == .unchanged)
        #expect(machine.onRetry(at: Self.now).isChange && machine.task.state == .queued)
    }

    @Test func aTaskHeldBackBeforeItsStartUsesUpNoTry() {
        var machine = TaskStateMachine(Self.task(.queued))
        let transition = machine.onBlocked(Wait(.network))
        #expect(transition.event == .taskWaiting(wait: Wait(.network), error: nil))
        #expect(machine.task.state == .waiting && machine.task.wait == Wait(.network))
        #expect(machine.task.attempts == 0 && machine.task.startedAt == nil)
        _ = machine.onWaitOver(at: Self.now)
        #expect(machine.task.state == .queued && machine.task.wait == nil)
    }

    @Test func everyTerminalStateIsReachedWithExactlyOneTerminalEvent() {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<10_000 {
            var machine = TaskStateMachine(Self.task(.queued))
            var terminalEvents = 0
            for _ in 0..<50 where !machine.task.state.isTerminal {
                let transition = Self.randomMove(of: &machine, using: &generator)
                if transition.event?.type.isTerminal == true { terminalEvents += 1 }
                #expect((machine.task.wait != nil) == (machine.task.state == .waiting))
            }
            #expect(terminalEvents == (machine.task.state.isTerminal ? 1 : 0))
        }
    }

    /// Applies a random command, or a random move of the service that this state allows.
    static func randomMove(
        of machine: inout TaskStateMachine, using generator: inout some RandomNumberGenerator
    ) -> TaskTransition {
        if Int.random(in: 0..<4, using: &generator) == 0 {
            let commands: [Command] = [.pause, .resume, .cancel]
            return apply(commands.randomElement(using: &generator) ?? .pause, to: &machine)
        }
        switch machine.task.state {
        case .queued: return machine.onStart(at: now)
        case .waiting: return machine.onWaitOver(at: now)
        case .paused: return machine.onResume()
        case .running:
            let error = TransferError(.connectionLost, "reset")
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: return machine.onWait(Wait(.retry, until: now), error: error)
            case 1: return machine.onRequeue()
            case 2: return machine.onRestore(at: now)
            case 3: return machine.onFail(error, at: now)
            case 4: return machine.onStage(size: 1)
            default: return machine.onComplete(size: 1, at: now)
            }
        case .staged: return machine.onCommit(size: 1, at: now)
        case .completed, .failed, .cancelled: return .unchanged
        }
    }

    @Test(arguments: TaskState.allCases)
    func onlyAStagedTaskIsCommitted(state: TaskState) {
        var machine = TaskStateMachine(Self.task(state))
        machine.setOutcome { $0.finalPath = "/srv/f" }
        let transition = machine.onCommit(size: 7, at: Self.now)
        guard state == .staged else {
            #expect(transition == .unchanged && machine.task.state == state)
            return
        }
        #expect(machine.task.state == .completed && machine.task.finishedAt == Self.now && machine.task.total == 7)
        #expect(
            transition.event == .taskCompleted(path: "/srv/f", size: 7, skipped: false, notModified: false))
        #expect(machine.onCommit(size: 7, at: Self.now) == .unchanged)
    }

    @Test(arguments: [TaskState.running, .staged], [false, true])
    func theEndOfAWebPageUnderTheNameOfAnImageHasAWarning(state: TaskState, skipped: Bool) {
        var machine = TaskStateMachine(Self.task(state))
        machine.setOutcome {
            $0.finalPath = "/srv/a.iso"
            $0.skipped = skipped
            $0.responseHeaders = [HeaderField(name: "content-type", value: "text/html; charset=utf-8")]
        }
        let transition =
            state == .running ? machine.onComplete(size: 7, at: Self.now) : machine.onCommit(size: 7, at: Self.now)
        let warning = skipped ? nil : "the server sent a web page (text/html) as a.iso"
        #expect(
            transition.event
                == .taskCompleted(path: "/srv/a.iso", size: 7, skipped: skipped, notModified: false, warning: warning))
    }

    @Test func stagingIsNotATerminalState() {
        var machine = TaskStateMachine(Self.task(.running))
        let transition = machine.onStage(size: 9)
        #expect(transition == TaskTransition(event: .taskStaged(size: 9), action: .schedule))
        #expect(machine.task.state == .staged && machine.task.finishedAt == nil && machine.task.received == 9)
        #expect(transition.event?.type.isTerminal == false)
    }

    @Test func progressResetsTheTriesAndASourceThatChangesDoesNot() {
        var machine = TaskStateMachine(Self.task(.queued))
        for _ in 0..<3 {
            _ = machine.onStart(at: Self.now)
            _ = machine.onWait(Wait(.retry, until: Self.now), error: nil)
            _ = machine.onWaitOver(at: Self.now)
        }
        _ = machine.onStart(at: Self.now)
        #expect(machine.task.attempts == 4)
        let later = Self.now.advanced(by: .seconds(9))
        machine.onCheckpoint(received: 100, total: 1000, at: later)
        #expect(machine.task.attempts == 1)
        #expect(machine.task.lastProgressAt == later)

        _ = machine.onSourceChanged(reason: "etag")
        #expect(machine.task.received == 0)
        let evenLater = later.advanced(by: .seconds(9))
        machine.onCheckpoint(received: 100, total: 1000, at: evenLater)
        #expect(machine.task.lastProgressAt == later)
        machine.onCheckpoint(received: 101, total: 1000, at: evenLater)
        #expect(machine.task.lastProgressAt == evenLater)
    }

    @Test func aWaitingTaskWhoseBytesAnotherOneGetsKeepsTheReasonOfItsWait() {
        var machine = TaskStateMachine(Self.task(.queued))
        _ = machine.onStart(at: Self.now)
        let full = TransferError(.insufficientSpace, "full")
        _ = machine.onWait(Wait(.insufficientSpace), error: full)
        machine.onCheckpoint(received: 100, total: 100, at: Self.now)
        #expect(machine.task.received == 100 && machine.task.total == 100 && machine.task.error == full)
    }

    @Test func discardedBytesAreAnEventWithTheirReasonAndTellHowManyThereWere() {
        var machine = TaskStateMachine(Self.task(.queued))
        #expect(machine.onBytesDiscarded(reason: "gone").event == nil)
        _ = machine.onStart(at: Self.now)
        machine.onCheckpoint(received: 100, total: 1000, at: Self.now)
        #expect(machine.onBytesDiscarded(reason: "gone").event == .taskBytesDiscarded(reason: "gone", dropped: 100))
        #expect(machine.task.received == 0 && machine.task.total == nil && machine.task.furthest == 100)
        #expect(machine.onBytesDiscarded(reason: "gone").event == nil)
    }

    // MARK: Conditions of the task's own

    @Test(arguments: TaskState.allCases) func anUnmetConditionHoldsBackTasksThatCouldRun(state: TaskState) {
        var machine = TaskStateMachine(Self.task(state, wait: state == .waiting ? .schedule : nil))
        let wait = Wait(.schedule, until: Self.now)
        let transition = machine.onBlocked(wait)
        let isHeld = [.queued, .waiting, .running].contains(state)
        #expect(transition.isChange == isHeld)
        #expect(machine.task.state == (isHeld ? .waiting : state))
        guard isHeld else { return }
        #expect(machine.task.wait == wait && machine.task.attempts == 0)
        #expect(transition.event == .taskWaiting(wait: wait, error: nil))
        #expect(transition.action == (state == .running ? .stopAttempt : .none))
        #expect(machine.onBlocked(wait) == .unchanged)
        #expect(machine.onConditionsMet() == TaskTransition(event: nil, action: .schedule))
        #expect(machine.task.state == .queued && machine.task.wait == nil)
    }

    /// A wait that has another reason goes on; conditions are evaluated when it is over.
    @Test(arguments: WaitReason.allCases) func aWaitForAnotherReasonIsNotEndedByConditions(reason: WaitReason) {
        let isOwn = reason == .schedule || reason == .dependency || reason == .lease
        var machine = TaskStateMachine(Self.task(.waiting, wait: reason))
        #expect(machine.onBlocked(Wait(.schedule, until: Self.now)).isChange == isOwn)
        machine = TaskStateMachine(Self.task(.waiting, wait: reason))
        #expect(machine.onConditionsMet().isChange == isOwn)
    }

    @Test func aNonIdempotentRunIsNotStoppedByACondition() {
        var task = Self.task(.running)
        task.specification.request.method = .post
        var machine = TaskStateMachine(task)
        #expect(machine.onBlocked(Wait(.schedule)) == .unchanged && machine.task == task)
    }

    @Test(arguments: TaskState.allCases) func anUnmeetableConditionFailsUnfinishedTasks(state: TaskState) {
        var machine = TaskStateMachine(Self.task(state, wait: state == .waiting ? .retry : nil))
        let error = TransferError(.deadlineExceeded, "late")
        let transition = machine.onConditionsFailed(error, at: Self.now)
        // One that is staged has done its part.
        let ends = [.queued, .waiting, .running, .paused].contains(state)
        #expect(transition.isChange == ends)
        guard ends else { return }
        #expect(machine.task.state == .failed && machine.task.error == error && machine.task.finishedAt == Self.now)
        #expect(transition.event == .taskFailed(error: error))
        #expect(transition.action == (state == .running ? .stopAttempt : .schedule))
    }

    @Test func aRetryForgetsADeadlineThatHasPassed() {
        var task = Self.task(.failed)
        task.specification.schedule.deadline = Self.now
        var machine = TaskStateMachine(task)
        _ = machine.onRetry(at: Self.now)
        #expect(machine.task.specification.schedule.deadline == nil)
        task.specification.schedule.deadline = Self.now.advanced(by: .seconds(1))
        machine = TaskStateMachine(task)
        _ = machine.onRetry(at: Self.now)
        #expect(machine.task.specification.schedule.deadline != nil)
    }

    @Test func retryKeepsTheBytesAndForgetsTheFailure() {
        var task = Self.task(.failed)
        task.received = 42
        task.error = TransferError(.httpStatus, "404")
        task.attempts = 5
        var machine = TaskStateMachine(task)
        #expect(machine.onRetry(at: Self.now).action == .schedule)
        #expect(machine.task.received == 42)
        #expect(machine.task.error == nil)
        #expect(machine.task.attempts == 0)
    }

    @Test func onlyFailuresUseUpTries() {
        var machine = TaskStateMachine(Self.task(.queued))
        _ = machine.onStart(at: Self.now)
        _ = machine.onWait(Wait(.retry, until: Self.now), error: TransferError(.connectionLost, "reset"))
        _ = machine.onWaitOver(at: Self.now)
        for _ in 0..<100 {
            _ = machine.onStart(at: Self.now)
            #expect(machine.task.attempts == 2)
            _ = machine.onPause()
            _ = machine.onResume()
        }
        for reason in WaitReason.allCases where reason != .retry {
            _ = machine.onStart(at: Self.now)
            _ = machine.onWait(Wait(reason), error: nil)
            _ = machine.onWaitOver(at: Self.now)
        }
        #expect(machine.task.attempts == 1)
    }

    @Test func onlyTimeWithoutProgressCountsAgainstRetryFor() throws {
        let day = Duration.seconds(86_400)
        var machine = TaskStateMachine(Self.task(.queued))
        func fails(at now: Timestamp, until: Timestamp) {
            _ = machine.onStart(at: now)
            _ = machine.onWait(Wait(.retry, until: until), error: TransferError(.connectionLost, "reset"))
        }
        fails(at: Self.now, until: Self.now.advanced(by: .seconds(60)))
        #expect(machine.task.lastProgressAt == Self.now)
        // The machine was off for a day after the wait's end.
        _ = machine.onWaitOver(at: Self.now.advanced(by: .seconds(60) + day))
        #expect(machine.task.lastProgressAt == Self.now.advanced(by: day))
        // In time, and earlier than asked: nothing is made up for.
        for early: Duration in [.zero, .seconds(30)] {
            let start = try #require(machine.task.lastProgressAt)
            fails(at: start, until: start.advanced(by: .seconds(60)))
            _ = machine.onWaitOver(at: start.advanced(by: .seconds(60) - early))
            #expect(machine.task.lastProgressAt == start)
        }
        // A pause, and a wait for something that is not the task's failure, restart the time.
        let later = Self.now.advanced(by: day * 9)
        _ = machine.onPause()
        _ = machine.onResume()
        _ = machine.onStart(at: later)
        #expect(machine.task.lastProgressAt == later)
        _ = machine.onWait(Wait(.insufficientSpace), error: nil)
        _ = machine.onWaitOver(at: later.advanced(by: day))
        _ = machine.onStart(at: later.advanced(by: day))
        #expect(machine.task.lastProgressAt == later.advanced(by: day))
    }

    @Test func aRestartIsNotATry() {
        var machine = TaskStateMachine(Self.task(.queued))
        for _ in 0..<100 {
            _ = machine.onStart(at: Self.now)
            _ = machine.onRestore(at: Self.now)
        }
        #expect(machine.task.attempts == 0)
    }
}
