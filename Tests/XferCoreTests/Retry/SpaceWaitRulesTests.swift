import Testing
import XferCore
import XferModel

@Suite struct SpaceWaitRulesTests {
    let policy = RetryPolicy()
    let now = Timestamp(seconds: 1_800_000_000)

    func space(in directory: String? = "/d", failures: Int = 0, checks: Int = 0) -> MissingSpace {
        var space = MissingSpace(in: directory, needed: 5)
        (space.failures, space.checks) = (failures, checks)
        return space
    }

    func lacking(_ directory: String? = "/d", failures: Int = 0, checks: Int = 0) -> TransferError {
        var error = TransferError(.insufficientSpace, "full")
        error.space = space(in: directory, failures: failures, checks: checks)
        return error
    }

    @Test func runsThatLackSpaceInARowWaitTwiceAsLongEachUpToTheCap() {
        var (error, delays): (TransferError?, [Int64]) = (nil, [])
        for _ in 0..<9 {
            error = SpaceWaitRules.counted(lacking(checks: 3), after: error)
            #expect(error?.space?.checks == 0 && error?.space?.needed == 5)
            delays.append(SpaceWaitRules.delay(afterRun: error?.space, policy).components.seconds)
        }
        #expect(delays == [5, 10, 20, 40, 80, 160, 300, 300, 300])
    }

    @Test func checksInARowWaitTwiceAsLongEachUpToAMinute() {
        let delays = (1...6).map { SpaceWaitRules.delay(afterCheck: space(checks: $0), policy).components.seconds }
        #expect(delays == [10, 20, 40, 60, 60, 60])
    }

    @Test(arguments: [Int.min, -1, 0, 1, 20, 21, .max]) func noNumberOverflowsADelay(number: Int) throws {
        let known = lacking(failures: number, checks: number)
        let counted = SpaceWaitRules.counted(lacking(), after: known)
        #expect(try #require(counted.space).failures == (number == .max ? .max : max(0, number) + 1))
        let space = try #require(known.space)
        #expect((policy.probeInterval...policy.cap).contains(SpaceWaitRules.delay(afterRun: space, policy)))
        let checks = policy.probeInterval...SpaceWaitRules.longestCheck
        #expect(checks.contains(SpaceWaitRules.delay(afterCheck: space, policy)))
    }

    @Test(arguments: FailureReason.allCases) func onlyFailuresForSpaceAreCounted(reason: FailureReason) {
        let former = TransferError(reason, "x")
        let isSpace = reason == .insufficientSpace
        #expect((SpaceWaitRules.counted(former, after: nil).space != nil) == isSpace)
        // A failure of another kind in between begins the count again.
        var other = former
        other.space = space(failures: 4)
        #expect(SpaceWaitRules.counted(lacking(), after: other).space?.failures == (isSpace ? 5 : 1))
    }

    @Test(arguments: TaskState.allCases, WaitReason.allCases)
    func onlyAWaitForKnownSpaceIsChecked(state: TaskState, reason: WaitReason) {
        var task = TaskStateMachineTests.task(state, wait: state == .waiting ? reason : nil)
        for error in [nil, TransferError(.insufficientSpace, "full"), lacking(nil), lacking()] {
            task.error = error
            var machine = TaskStateMachine(task)
            let waits = state == .waiting && reason == .insufficientSpace
            let transition = machine.onSpaceCheck(at: now, policy)
            guard waits, error?.space?.directory != nil else {
                #expect(transition == .unchanged && machine.task == task)
                continue
            }
            #expect(transition == TaskTransition(event: nil))
            #expect(machine.task.state == .waiting && machine.task.error?.space?.checks == 1)
            #expect(machine.task.wait?.until == now.advanced(by: .seconds(10)))
        }
        var machine = TaskStateMachine(task)
        let starts = state == .waiting && reason == .insufficientSpace
        #expect(machine.onRoom(at: now) == (starts ? TaskTransition(event: nil, action: .schedule) : .unchanged))
        #expect(machine.task.state == (starts ? .queued : state) && machine.task.error == task.error)
    }

    @Test(arguments: [WaitReason.insufficientSpace, .destinationUnavailable, .outOfDescriptors, .retry, .network])
    func onlyTheSecondWaitInARowForAResourceIsRepeated(reason: WaitReason) {
        let failure: FailureReason =
            switch reason {
            case .insufficientSpace: .insufficientSpace
            case .destinationUnavailable: .destinationUnavailable
            case .outOfDescriptors: .outOfDescriptors
            default: .connectionLost
            }
        let error = TransferError(failure, "x")
        var machine = TaskStateMachine(TaskStateMachineTests.task(.running))
        func wait() -> Bool? {
            guard case .taskWaiting(let wait, _) = machine.onWait(Wait(reason), error: error).event else { return nil }
            #expect(machine.task.wait == Wait(reason))
            _ = machine.onWaitOver(at: now)
            _ = machine.onStart(at: now)
            return wait.isRepeated == true
        }
        let isForResource = reason != .retry && reason != .network
        #expect(wait() == false)
        #expect(wait() == isForResource)
        // Progress ends the failure.
        machine.onCheckpoint(received: 1, total: nil, at: now)
        #expect(machine.task.error == nil)
        #expect(wait() == false)
        #expect(wait() == isForResource)
    }
}
