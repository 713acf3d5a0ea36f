import Foundation
import Testing

@testable import XferStore

/// When a commit starts, decided without a database.
struct CommitQueueTests {
    private var queue = CommitQueue<Int>()

    @Test mutating func aChangeCommitsAtOnceIfNoCommitIsUnderWay() {
        #expect(queue.onChange(1, .immediate) == .startCommitting)
        #expect(queue.next() == [1])
        #expect(queue.next() == nil)
    }

    @Test mutating func changesDuringACommitFormTheNextGroup() {
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

    @Test mutating func anImmediateChangeTakesGatheredChangesAlong() {
        _ = queue.onChange(1, .gathered)
        #expect(queue.onChange(2, .immediate) == .startCommitting)
        #expect(queue.next() == [1, 2])
        #expect(queue.onGatheringTimeOver() == .nothing)
    }

    @Test mutating func gatheredChangesDueDuringACommitFollowIt() {
        _ = queue.onChange(1, .immediate)
        _ = queue.next()
        _ = queue.onChange(2, .gathered)
        #expect(queue.onGatheringTimeOver() == .nothing)
        #expect(queue.next() == [2])
    }

    @Test mutating func anIdleQueueStartsAgain() {
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

    @Test mutating func aBulkyChangeCommitsAtOnceIfNoCommitIsUnderWay() {
        #expect(queue.onChange(1, .gathered) == .startTimer)
        #expect(queue.onChange(11, .bulky) == .startCommitting)
        #expect(queue.next() == [11])
        #expect(queue.next() == nil)
        #expect(queue.onGatheringTimeOver() == .startCommitting)
        #expect(queue.next() == [1])
    }

    @Test mutating func gatheredChangesThatMetABulkyOneFollowIt() {
        #expect(queue.onChange(11, .bulky) == .startCommitting)
        #expect(queue.onChange(1, .gathered) == .nothing)
        #expect(queue.onChange(12, .bulky) == .nothing)
        #expect(queue.next() == [11])
        #expect(queue.next() == [1])
        #expect(queue.next() == [12])
        #expect(queue.next() == nil)
    }

    /// Whatever comes in whichever order: everything is committed once, in the order of its kind, and nothing waits without
    /// a commit under way or a timer that runs.
    @Test func everySequenceOfChangesIsCommittedOnceAndInOrder() {
        let longest = 7
        for length in 1...longest {
            for number in 0..<Int(pow(5, Double(length))) {
                var world = World()
                var steps = number
                for _ in 0..<length {
                    world.take(step: steps % 5)
                    steps /= 5
                }
                world.finish()
                guard world.isRight else {
                    Issue.record("\(length) steps, number \(number): \(world)")
                    return
                }
            }
        }
    }

    /// A queue, and the timer and commits that it starts.
    private struct World {
        private var queue = CommitQueue<Int>()
        private var isCommitting = false
        private var hasTimer = false
        private var submitted: [Int] = []
        private var bulky: [Int] = []
        private var committed: [Int] = []
        private var isStranded = false

        var isRight: Bool {
            !isStranded && queue.waitingCount == 0 && committed.filter { !bulky.contains($0) } == submitted
                && committed.filter(bulky.contains) == bulky
        }

        mutating func take(step: Int) {
            switch step {
            case 0: submit(.immediate)
            case 1: submit(.gathered)
            case 2: submit(.bulky)
            case 3: if isCommitting { commitNext() }
            default: if hasTimer { endTimer() }
            }
            if queue.waitingCount > 0, !isCommitting, !hasTimer { isStranded = true }
        }

        /// Runs the pending commits and timers; no further change arrives.
        mutating func finish() {
            while isCommitting || hasTimer {
                while isCommitting { commitNext() }
                if hasTimer { endTimer() }
            }
        }

        private mutating func submit(_ urgency: Urgency) {
            let change = submitted.count + bulky.count
            if urgency == .bulky { bulky.append(change) } else { submitted.append(change) }
            perform(queue.onChange(change, urgency))
        }

        private mutating func commitNext() {
            guard let group = queue.next() else { return isCommitting = false }
            committed += group
        }

        private mutating func endTimer() {
            hasTimer = false
            perform(queue.onGatheringTimeOver())
        }

        private mutating func perform(_ action: CommitQueue<Int>.Action) {
            switch action {
            case .nothing: break
            case .startCommitting: isCommitting = true
            case .startTimer: hasTimer = true
            }
        }
    }

    @Test mutating func bulkyChangesAreCommittedWhenTheStoreCloses() {
        _ = queue.onChange(11, .bulky)
        _ = queue.onChange(12, .bulky)
        #expect(queue.onGatheringTimeOver() == .nothing)
        #expect(queue.next() == [11])
        #expect(queue.next() == [12])
        #expect(queue.next() == nil)
    }

    @Test mutating func aGroupIsLimitedAndKeepsItsOrder() {
        let limit = CommitQueue<Int>.groupLimit
        for number in 0..<limit + 5 { _ = queue.onChange(number, .immediate) }
        #expect(queue.next() == Array(0..<limit))
        #expect(queue.next() == Array(limit..<limit + 5))
        #expect(queue.next() == nil)
    }
}
