import Testing
import XferCore

/// Steps of long changes take as long on a slow machine as on a fast one.
struct StepSizeTests {
    /// Runs steps on a machine that takes so long for each element, and returns their sizes.
    private static func sizes(_ count: Int, largest: Int, microsecondsEach: Int64) -> [Int] {
        var size = StepSize(largest: largest)
        return (0..<count).map { _ in
            let done = size.count
            size.record(done, took: .microseconds(Int64(done) * microsecondsEach))
            return done
        }
    }

    @Test func aFastMachineSoonTakesTheLargestStep() {
        #expect(Self.sizes(5, largest: 1000, microsecondsEach: 1) == [250, 500, 1000, 1000, 1000])
    }

    @Test func aSlowMachineTakesStepsOfTheWantedTime() {
        let sizes = Self.sizes(12, largest: 1000, microsecondsEach: 300)
        // 50 elements take 15 ms.
        #expect(sizes.first == 250 && sizes.last == 50)
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $1 >= $0 / 2 })
    }

    @Test func aStepNeverHasFewerThanTheLeastNorMoreThanTheLargest() {
        #expect(Self.sizes(20, largest: 1000, microsecondsEach: 1_000_000).last == StepSize.least)
        #expect(Self.sizes(20, largest: 7, microsecondsEach: 1_000_000) == Array(repeating: 7, count: 20))
        #expect(Self.sizes(3, largest: 0, microsecondsEach: 0) == [1, 1, 1])
    }

    @Test func theShortLastStepOfAPageChangesNothing() {
        var size = StepSize(largest: 1000)
        size.record(3, took: .microseconds(1))
        size.record(0, took: .zero)
        #expect(size.count == 250)
        size.record(250, took: .zero)
        #expect(size.count == 500)
    }
}
