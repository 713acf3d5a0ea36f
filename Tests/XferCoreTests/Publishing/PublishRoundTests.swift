import Testing
import XferCore
import XferModel
import XferTestSupport

/// Every file is published once, under a name that is its own, whatever fails.
@Suite struct PublishRoundTests {
    // MARK: On a disk that loses what is not durable

    /// Each has 500 seeds: 10,000 in `make test`, a million in `make soak`.
    private static let blocks = 0..<UInt64(Campaign.isSoak ? 2000 : 20)

    @Test(arguments: blocks)
    func whateverFailsEachFileHasItsNameOnceAndNoOtherFileIsTouched(block: UInt64) {
        for seed in block * 500..<(block + 1) * 500 {
            var world = PublishWorld(seed: seed)
            world.run()
            let problems = world.problems
            if !problems.isEmpty {
                Issue.record("seed \(seed): \(problems)\n\(world.log.joined(separator: "\n"))")
                return
            }
        }
    }

    @Test func equalSeedsGiveEqualTraces() {
        for seed in UInt64(0)..<200 {
            let traces = (0..<2).map { _ in
                var world = PublishWorld(seed: seed)
                world.run()
                return world.log
            }
            #expect(traces[0] == traces[1], "seed \(seed)")
        }
    }

    // MARK: Every order of results

    /// A round and what its results so far amount to, as the caller sees it.
    private struct Situation: Hashable {
        struct File: Hashable {
            var intent: String?
            var name: String?
            var isDurable = false
            var isChecked = false
        }

        var round: PublishRound
        var files: [File]
    }

    @Test func everyOrderOfResultsEndsAndNoStepIsTakenTooEarly() {
        let policies: [ConflictPolicy] = [.rename, .skip, .fail, .overwrite]
        for first in policies {
            for second in policies {
                let round = PublishRound([("a", first), ("a", second)], mostLostNames: 2)
                var seen: Set<Situation> = []
                var path: Set<Situation> = []
                Self.explore(
                    Situation(round: round, files: [Situation.File(), Situation.File()]), [first, second], &seen, &path)
                #expect(seen.count > 100, "\(first) \(second)")
            }
        }
    }

    private static func explore(
        _ now: Situation, _ policies: [ConflictPolicy], _ seen: inout Set<Situation>, _ path: inout Set<Situation>
    ) {
        guard !path.contains(now) else {
            Issue.record("a round goes in circles: \(now)")
            return
        }
        guard seen.insert(now).inserted else { return }
        check(now)
        path.insert(now)
        defer { path.remove(now) }
        guard let step = now.round.next else { return }
        for next in successors(of: now, step, policies) where next != now { explore(next, policies, &seen, &path) }
    }

    private static func check(_ now: Situation) {
        let ends = now.files.indices.map { now.round.end(of: $0) }
        #expect((now.round.next == nil) == ends.allSatisfy { $0 != nil })
        #expect(now.round.ended.sorted() == now.files.indices.filter { ends[$0] != nil })
        for (number, file) in now.files.enumerated() {
            #expect(now.round.isIntended(number) == (file.intent != nil))
            switch ends[number] {
            case .published: #expect(file.name == file.intent && file.isDurable && file.isChecked)
            case .skipped, .stopped, .failed, .outraced: #expect(file.name == nil)
            case .uncertain, nil: break
            }
        }
        if case .choose(let numbers) = now.round.next {
            #expect(numbers.contains { !now.round.mustWait($0) }, "every file waits for another one")
        }
    }

    /// What can follow when one result of the step is reported.
    private static func successors(
        of now: Situation, _ step: PublishRound.Step, _ policies: [ConflictPolicy]
    ) -> [Situation] {
        var all: [Situation] = []
        func add(_ change: (inout Situation) -> Void) {
            var next = now
            change(&next)
            all.append(next)
        }
        switch step {
        case .choose(let numbers):
            for number in numbers {
                for choice in choices(of: number, now.round, policies[number]) {
                    add { $0.round.onChoice(choice, of: number) }
                }
            }
        case .commit(let numbers):
            #expect(Set(numbers.map(now.round.name)).count == numbers.count, "two files of one name")
            for number in numbers {
                add {
                    $0.files[number].intent = now.round.name(of: number)
                    $0.round.onCommit(.done, of: number)
                }
                for result in [PublishRound.Naming.taken, .failed, .unknown] {
                    add { $0.round.onCommit(result, of: number) }
                }
            }
        case .name(let numbers):
            for number in numbers {
                #expect(now.files[number].intent == now.round.name(of: number))
                for (result, isGiven) in [
                    (PublishRound.Naming.done, true), (.taken, false), (.failed, false), (.unknown, true),
                    (.unknown, false),
                ] {
                    add {
                        if isGiven { $0.files[number].name = now.round.name(of: number) }
                        $0.round.onNaming(result, of: number)
                    }
                }
            }
        case .sync(let numbers):
            #expect(numbers.allSatisfy { now.files[$0].name != nil })
            add {
                for number in numbers { $0.files[number].isDurable = true }
                $0.round.onSync(hasSucceeded: true)
            }
            add { $0.round.onSync(hasSucceeded: false) }
        case .check(let numbers):
            for number in numbers {
                #expect(now.files[number].isDurable)
                add {
                    $0.files[number].isChecked = true
                    $0.round.onCheck(isInPlace: true, of: number)
                }
                add { $0.round.onCheck(isInPlace: false, of: number) }
            }
        case .withdraw(let numbers):
            for number in numbers {
                #expect(!now.round.isReplacing(number), "the replaced file cannot come back")
                add {
                    $0.files[number].name = nil
                    $0.round.onWithdrawal(isGone: true, of: number)
                }
                add { $0.round.onWithdrawal(isGone: false, of: number) }
            }
        }
        return all
    }

    private static func choices(
        of number: Int, _ round: PublishRound, _ policy: ConflictPolicy
    ) -> [PublishRound.Choice] {
        guard !round.mustWait(number) else { return [.wait] }
        let names = (policy == .rename ? ["a", "a (1)", "a (2)"] : ["a"]).filter { !round.isReserved($0, for: number) }
        return names.map { .name($0, isReplacing: policy == .overwrite) } + [.skip, .stop, .failed]
    }

    // MARK: Rules

    @Test func filesThatHaveComeFarthestGoFirst() {
        var round = PublishRound([("a", .rename), ("b", .rename), ("c", .rename)], mostLostNames: 9)
        #expect(round.next == .choose([0, 1, 2]))
        round.onChoice(.name("a", isReplacing: false), of: 0)
        round.onChoice(.name("b", isReplacing: false), of: 1)
        round.onChoice(.stop, of: 2)
        #expect(round.next == .commit([0, 1]) && round.end(of: 2) == .stopped)
        round.onCommit(.taken, of: 0)
        round.onCommit(.done, of: 1)
        #expect(round.next == .name([1]))
        round.onNaming(.done, of: 1)
        round.onSync(hasSucceeded: true)
        #expect(round.next == .check([1]))
        round.onCheck(isInPlace: true, of: 1)
        #expect(round.next == .choose([0]) && round.isReserved("a", for: 0) && !round.isReserved("b", for: 0))
    }

    @Test func aFileThatLosesEveryNameEndsAtTheLimit() {
        var round = PublishRound([("a", .rename)], mostLostNames: 3)
        for name in ["a", "b", "c"] {
            #expect(round.end(of: 0) == nil)
            round.onChoice(.name(name, isReplacing: false), of: 0)
            round.onCommit(.done, of: 0)
            round.onNaming(.taken, of: 0)
        }
        #expect(round.end(of: 0) == .outraced && round.isIntended(0))
    }

    @Test func aRestartFollowsTheNameThenThePart() {
        for hasPart in [true, false] {
            for hadPart in [true, false] {
                #expect(PublishRecovery(isNamed: true, hasPart: hasPart, hadPart: hadPart) == .done)
            }
        }
        #expect(PublishRecovery(isNamed: false, hasPart: true, hadPart: true) == .repeat)
        #expect(PublishRecovery(isNamed: false, hasPart: false, hadPart: false) == .repeat)
        #expect(PublishRecovery(isNamed: false, hasPart: false, hadPart: true) == .lost)
    }
}
