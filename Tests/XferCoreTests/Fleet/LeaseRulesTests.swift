import Testing
import XferCore
import XferModel

struct LeaseRulesTests {
    private let rules = LeaseRules()

    private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(seconds: seconds, nanoseconds: 0) }

    @Test(arguments: [1, 20, 100])
    func aNodesTasksStopBeforeAnyObserverCanCallItDead(scale: Int) {
        let rules = LeaseRules(scale: scale)
        // The beat may be on its way for as long as the beat before it allows.
        #expect(rules.leaseLength + rules.beatInterval < rules.deathAfter)
        #expect(rules.leaseLength > rules.beatInterval * 4)
    }

    @Test func aScaleBelowOneCountsAsOne() {
        #expect(LeaseRules(scale: 0) == rules)
        #expect(LeaseRules(scale: -3) == rules)
    }

    @Test func aBeatIsDueAtFirstAndThenOnceAnInterval() {
        #expect(rules.isBeatDue(lastSentAt: nil, at: at(100)))
        for second in 0..<12 {
            #expect(rules.isBeatDue(lastSentAt: at(100), at: at(100 + second)) == (second >= 5), "\(second)")
        }
    }

    @Test func aNodeWhoseDaemonIsSilentStopsToBeatWhenItsPatienceIsOver() {
        #expect(!rules.mayBeat(lastAnswerAt: nil, at: at(0)))
        for second in 0..<60 { #expect(rules.mayBeat(lastAnswerAt: at(0), at: at(second)) == (second < 40)) }
    }

    @Test func timesAtTheEndsOfTheClockDoNotTrap() {
        for first in [Int64.min, 0, .max] {
            for second in [Int64.min, 0, .max] {
                let (one, other) = (MonotonicInstant(nanoseconds: first), MonotonicInstant(nanoseconds: second))
                _ = rules.leaseEnd(beatSentAt: one)
                _ = rules.isBeatDue(lastSentAt: one, at: other)
                _ = rules.mayBeat(lastAnswerAt: one, at: other)
            }
        }
    }

    // MARK: Observers

    private func beats(_ counts: [String: Int64]) -> [String: BeatObserver.Beat] {
        counts.mapValues { BeatObserver.Beat(incarnation: 1, count: $0) }
    }

    @Test func aNodeIsDeadFortySecondsAfterItsLastChangedBeat() {
        var observer = BeatObserver()
        observer.observe(beats(["a": 1, "b": 1, "c": 1]), at: at(0))
        for second in 1..<60 {
            observer.observe(
                beats(["a": 1 + Int64(second), "b": second < 10 ? Int64(second) : 9, "c": 1 + Int64(second)]),
                at: at(second))
            #expect(observer.dead(rules, own: "a", at: at(second)) == (second >= 49 ? ["b"] : []), "\(second)")
            let expected: BeatObserver.Liveness = second >= 49 ? .dead : second > 19 ? .silent : .live
            #expect(observer.liveness(of: "b", rules, at: at(second)) == expected, "\(second)")
        }
    }

    @Test func anotherIncarnationIsAChange() {
        var observer = BeatObserver()
        observer.observe(beats(["a": 1, "b": 7]), at: at(0))
        observer.observe(["a": .init(incarnation: 1, count: 2), "b": .init(incarnation: 2, count: 7)], at: at(39))
        #expect(observer.dead(rules, own: "a", at: at(60)) == [])
    }

    @Test func anObserverWhoseContactBrokeCountsAnew() {
        var observer = BeatObserver()
        observer.observe(beats(["a": 1, "b": 1]), at: at(0))
        observer.restart()
        #expect(observer.liveness(of: "b", rules, at: at(100)) == .silent)
        observer.observe(beats(["a": 1, "b": 1]), at: at(100))
        #expect(observer.dead(rules, own: "a", at: at(139)) == [])
        #expect(observer.dead(rules, own: "a", at: at(140)) == ["b"])
    }

    @Test func anObserverNeverCallsMoreThanHalfOfTheNodesDead() {
        for total in 1...9 {
            for silent in 0..<total {
                var observer = BeatObserver()
                let names = (0..<total).map { "n\($0)" }
                observer.observe(beats(Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })), at: at(0))
                let alive = Dictionary(
                    uniqueKeysWithValues: names.enumerated().map { ($1, $0 < total - silent ? Int64(2) : 1) })
                observer.observe(beats(alive), at: at(40))
                let dead = observer.dead(rules, own: "n0", at: at(40))
                #expect(dead.count == (silent * 2 > total ? 0 : silent), "\(silent) of \(total)")
                #expect(!dead.contains("n0"))
            }
        }
    }

    @Test func aNodeThatIsNotNamedAnyMoreIsForgotten() {
        var observer = BeatObserver()
        observer.observe(beats(["a": 1, "b": 1]), at: at(0))
        observer.observe(beats(["a": 2]), at: at(50))
        #expect(observer.dead(rules, own: "a", at: at(50)) == [])
        #expect(observer.liveness(of: "b", rules, at: at(50)) == .silent)
    }
}
