import Testing
import XferModel
import XferTestSupport

@testable import XferCore

/// What each owner loses when the cache is trimmed.
@Suite struct CacheSharesTests {
    private static func excess(_ use: [UInt32: Int64], within goal: Int64) -> [UInt32: Int64] {
        let owners = Dictionary(uniqueKeysWithValues: use.map { (Owner(uid: $0.key), $0.value) })
        return Dictionary(
            uniqueKeysWithValues: CacheShares.excess(of: owners, within: goal).map { ($0.key.rawValue, $0.value) })
    }

    @Test func anOwnerAloneLosesWhatIsBeyondTheGoal() {
        #expect(Self.excess([1: 1000], within: 500) == [1: 500])
        #expect(Self.excess([1: 501], within: 500) == [1: 1])
        #expect(Self.excess([1: 500], within: 500) == [:])
        #expect(Self.excess([:], within: 500) == [:])
    }

    @Test func anOwnerWithLessThanAnEqualShareLosesNothing() {
        #expect(Self.excess([1: 900, 2: 150], within: 500) == [1: 550])
        #expect(Self.excess([1: 900, 2: 249, 3: 1], within: 500) == [1: 650])
        // At an equal share, and beyond it.
        #expect(Self.excess([1: 900, 2: 250], within: 500) == [1: 650])
        #expect(Self.excess([1: 900, 2: 251], within: 500) == [1: 650, 2: 1])
    }

    @Test func theRestIsDividedEquallyAmongTheOthers() {
        #expect(Self.excess([1: 10, 2: 400, 3: 600], within: 510) == [2: 150, 3: 350])
        #expect(Self.excess([1: 300, 2: 300, 3: 300], within: 0) == [1: 300, 2: 300, 3: 300])
    }

    @Test func noNumberOverflows() {
        let use = Dictionary(uniqueKeysWithValues: (0..<50).map { (UInt32($0), Int64.max) })
        #expect(Self.excess(use, within: .max).count == 50)
        #expect(Self.excess([1: .max, 2: .max], within: .min) == [1: .max, 2: .max])
    }

    /// The sum of what is left is the goal, but for a byte of each owner.
    @Test(arguments: 0..<50) func whatIsLeftFitsAndIsFair(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let use = Dictionary(
            uniqueKeysWithValues: (0..<Int.random(in: 1...9, using: &random)).map {
                (UInt32($0), Int64.random(in: 0...1000, using: &random))
            })
        let sum = use.values.reduce(0, +)
        let goal = Int64.random(in: 0...sum, using: &random)
        let excess = Self.excess(use, within: goal)
        let left = use.map { $0.value - (excess[$0.key] ?? 0) }
        #expect(left.allSatisfy { $0 >= 0 } && left.reduce(0, +) <= goal)
        #expect(left.reduce(0, +) > goal - Int64(use.count))
        // An owner that loses bytes keeps as much as any other owner, except for one byte.
        let most = left.max() ?? 0
        for owner in excess.keys { #expect((use[owner] ?? 0) - (excess[owner] ?? 0) >= most - 1, "\(use) \(goal)") }
    }
}
