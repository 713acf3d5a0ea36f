import Testing
import XferModel

@testable import XferManager

/// Which tasks a transfer waits for, and who else may hold its bytes.
@Suite struct StartedTasksTests {
    @Test func aTaskIsExpectedFromItsStartUntilItIsRemoved() {
        let started = StartedTasks(isNew: true)
        #expect(!started.isAnyExpected)
        started.expect(TaskID(1), segments: .exactly(4))
        #expect(started.isAnyExpected)
        #expect(started.wantedSegments == [.exactly(4)])
        started.remove(TaskID(1))
        #expect(!started.isAnyExpected)
    }

    @Test func onlyTheFirstTaskOfANewTransferHasItsBytesAlone() {
        let new = StartedTasks(isNew: true)
        new.expect(TaskID(1), segments: .one)
        #expect(new.isExclusive)
        new.remove(TaskID(1))
        new.expect(TaskID(2), segments: .one)
        #expect(!new.isExclusive)

        let old = StartedTasks(isNew: false)
        old.expect(TaskID(1), segments: .one)
        #expect(!old.isExclusive)
    }

    @Test func aFailureIsUncommittedUntilItIsCommittedForMembersAndExpectedTasks() {
        let started = StartedTasks(isNew: true)
        started.expect(TaskID(2), segments: .one)
        started.beginFailure(of: [TaskID(1)])
        started.onFailureCommitted(of: TaskID(1))
        #expect(started.isFailureUncommitted)
        started.onFailureCommitted(of: TaskID(2))
        #expect(!started.isFailureUncommitted)
    }
}
