import Testing

@testable import XferStore

/// When a commit starts, decided without a database.
struct CommitQueueTests {
    private var queue = CommitQueue<Int>()

    @Test mutating func commitsAtOnceWhenNoneIsUnderWay() {
        #expect(queue.onChange(1, .immediate) == .startCommitting)
        #expect(queue.next() == [1])
        #expect(queue.next() == nil)
    }

    @Test mutating func formsTheNextGroupOfWhatArrivesDuringACommit() {
        _ = queue.onChange(1, .immediate)
        _ = queue.next()
        #expect(queue.onChange(2, .immediate) == .nothing)
        #expect(queue.onChange(3, .gathered) == .nothing)
        #expect(queue.next() == [2, 3])
        #expect(queue.next() == nil)
    }

    @Test mutating func letsGatheredChangesWaitForTheTimerOnly() {
        #expect(queue.onChange(1, .gathered) == .startTimer)
        #expect(queue.onChange(2, .gathered) == .nothing)
        #expect(queue.next() == nil)
        #expect(queue.onGatheringTimeOver() == .startCommitting)
        #expect(queue.next() == [1, 2])
    }

    @Test mutating func takesGatheredChangesAlongWithAnImmediateOne() {
        _ = queue.onChange(1, .gathered)
        #expect(queue.onChange(2, .immediate) == .startCommitting)
        #expect(queue.next() == [1, 2])
        #expect(queue.onGatheringTimeOver() == .nothing)
    }

    @Test mutating func commitsGatheredChangesWhoseTimeIsOverDuringACommitRightAfterIt() {
        _ = queue.onChange(1, .immediate)
        _ = queue.next()
        _ = queue.onChange(2, .gathered)
        #expect(queue.onGatheringTimeOver() == .nothing)
        #expect(queue.next() == [2])
    }

    @Test mutating func startsAgainAfterItWasIdle() {
        _ = queue.onChange(1, .immediate)
        while queue.next() != nil {}
        #expect(queue.onChange(2, .immediate) == .startCommitting)
        #expect(queue.next() == [2])
    }

    @Test mutating func commitsBulkyChangesSinglyInTurnsWithTheOthers() {
        #expect(queue.onChange(1, .immediate) == .startCommitting)
        #expect(queue.next() == [1])
        for number in 11...13 { #expect(queue.onChange(number, .bulky) == .nothing) }
        #expect(queue.next() == [11])
        _ = queue.onChange(2, .immediate)
        _ = queue.onChange(3, .gathered)
        #expect(queue.waitingCount == 4)
        #expect(queue.next() == [2, 3])
        _ = queue.onChange(4, .immediate)
        #expect(queue.next() == [12])
        #expect(queue.next() == [4])
        #expect(queue.next() == [13])
        #expect(queue.next() == nil)
    }

    @Test mutating func commitsABulkyChangeAtOnceWhenNoneIsUnderWay() {
        #expect(queue.onChange(1, .gathered) == .startTimer)
        #expect(queue.onChange(11, .bulky) == .startCommitting)
        #expect(queue.next() == [11])
        #expect(queue.next() == nil)
        #expect(queue.onGatheringTimeOver() == .startCommitting)
        #expect(queue.next() == [1])
    }

    @Test mutating func commitsWhatIsBulkyWhenTheStoreIsClosed() {
        _ = queue.onChange(11, .bulky)
        _ = queue.onChange(12, .bulky)
        #expect(queue.onGatheringTimeOver() == .nothing)
        #expect(queue.next() == [11])
        #expect(queue.next() == [12])
        #expect(queue.next() == nil)
    }

    @Test mutating func limitsAGroupAndKeepsTheOrder() {
        let limit = CommitQueue<Int>.groupLimit
        for number in 0..<limit + 5 { _ = queue.onChange(number, .immediate) }
        #expect(queue.next() == Array(0..<limit))
        #expect(queue.next() == Array(limit..<limit + 5))
        #expect(queue.next() == nil)
    }
}
