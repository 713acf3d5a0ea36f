import Testing
import XferModel
import XferTestSupport

@testable import XferCore

/// `auto` in a simulated world: a line of some capacity, and a server that gives each connection so much.
@Suite struct SegmentConnectionGrowthTests {
    private struct World {
        /// MiB per second.
        var line: Double
        var connection: Double
        /// What each connection beyond the first costs the line.
        var loss = 0.0
        /// Seconds until a new connection brings bytes.
        var connecting = 0.3
        /// How much the rate goes up and down at random.
        var noise = 0.0
        var mebibytes: Double = 2000

        func rate(_ connections: Int) -> Double {
            min(line * max(0.2, 1 - loss * Double(connections - 1)), connection * Double(connections))
        }

        /// The numbers of connections one after the other, and how long the download took.
        func run(seed: UInt64 = 1) -> (connections: [Int], seconds: Double) {
            var random = SplitMix64(seed: seed)
            var growth = SegmentConnectionGrowth(.automatic)
            var seen = [growth.connections]
            var received = [Double](repeating: 0, count: SegmentConnectionGrowth.most)
            var (written, now, changed) = (0.0, 0.0, 0.0)
            while written < mebibytes, now < 100_000 {
                now += 0.25
                let working =
                    now - changed >= connecting
                    ? growth.connections : min(growth.connections, seen.dropLast().last ?? 1)
                let factor = 1 + Double.random(in: -noise...noise, using: &random)
                let share = rate(max(1, working)) / Double(max(1, working)) * factor * 0.25
                for number in 0..<max(1, working) { received[number] += share }
                written = min(mebibytes, received.reduce(0, +))
                let isChanged = growth.measure(
                    received.map { SegmentConnectionTotal(bytes: Int64($0 * Double(1 << 20)), pieces: 1) },
                    remaining: Int64((mebibytes - written) * Double(1 << 20)), smallest: 1 << 20,
                    now: MonotonicInstant(nanoseconds: Int64(now * 1e9)))
                guard isChanged else { continue }
                seen.append(growth.connections)
                changed = growth.connections > working ? now : 0
            }
            return (seen, now)
        }
    }

    @Test func aServerThatGivesEachConnectionLittleGetsMore() {
        #expect(World(line: 1000, connection: 5).run().connections == [1, 2, 4, 8])
        #expect(World(line: 20, connection: 5, mebibytes: 700).run().connections == [1, 2, 4, 8, 4])
    }

    @Test func aLineThatOneConnectionFillsKeepsOneConnection() {
        #expect(World(line: 10, connection: 1000, mebibytes: 300).run().connections == [1, 2, 1])
        #expect(
            World(line: 10, connection: 10, connecting: 3, mebibytes: 300).run().connections == [1, 2, 1],
            "connecting is no trial")
    }

    @Test func aLongDownloadRepeatsAFailedTrialAFewTimes() {
        #expect(World(line: 10, connection: 1000).run().connections == [1, 2, 1, 2, 1, 2, 1])
    }

    @Test func connectionsThatSlowTheDownloadAreClosedAgain() {
        let world = World(line: 20, connection: 10, loss: 0.15, mebibytes: 700)
        let (connections, seconds) = world.run()
        #expect(connections == [1, 2, 4, 2])
        #expect(seconds < world.mebibytes / world.rate(2) * 1.1)
    }

    @Test(arguments: 0..<50) func growthIsNeverMuchSlowerThanOneConnection(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let world = World(
            line: Double.random(in: 1...200, using: &random), connection: Double.random(in: 1...200, using: &random),
            loss: Double.random(in: 0...0.3, using: &random), connecting: Double.random(in: 0...2, using: &random))
        let (connections, seconds) = world.run(seed: seed)
        #expect(seconds <= world.mebibytes / world.rate(1) * 1.05 + 0.5, "\(world): \(connections)")
        #expect(Self.isOrderly(connections), "\(connections)")
    }

    @Test func growthOnAFluctuatingLineTerminates() {
        for seed in 0..<50 as Range<UInt64> {
            let connections = World(line: 50, connection: 10, noise: 0.4).run(seed: seed).connections
            #expect(Self.isOrderly(connections), "\(connections)")
        }
    }

    /// True if each number is twice or half of the one before it, and few trials failed.
    private static func isOrderly(_ numbers: [Int]) -> Bool {
        let steps = zip(numbers, numbers.dropFirst())
        return steps.allSatisfy { $1 == 2 * $0 || $0 == 2 * $1 }
            && steps.count { $1 < $0 } <= SegmentConnectionGrowth.mostFailures
            && numbers.allSatisfy { (1...SegmentConnectionGrowth.most).contains($0) }
    }

    @Test func aRequestedNumberOfConnectionsIsKept() {
        var growth = SegmentConnectionGrowth(.exactly(3))
        let isChanged = growth.measure(
            [SegmentConnectionTotal(bytes: 1, pieces: 1)], remaining: .max, smallest: 1,
            now: MonotonicInstant(nanoseconds: 0))
        #expect(!isChanged)
        #expect(growth.connections == 3)
    }

    // MARK: With pieces

    /// The seconds with `auto` and with one connection.
    private static func times(
        _ seed: UInt64, _ change: (inout LineWorld) -> Void
    ) -> (automatic: LineWorld, seconds: Double, one: Double) {
        var automatic = LineWorld(seed: seed)
        change(&automatic)
        var one = automatic
        let seconds = automatic.run(.automatic)
        return (automatic, seconds, one.run(.one))
    }

    @Test(arguments: [0.02, 0.1, 0.2], [6e6, 12e6, 62e6])
    func whereOneConnectionFillsTheLineAutomaticSegmentsCostAtMostATwentieth(roundTrip: Double, line: Double) {
        for megabytes in [20, 200, 1000] as [Int64] {
            for isHyStart in [true, false] {
                let (world, seconds, one) = Self.times(1) {
                    ($0.roundTrip, $0.line, $0.total, $0.isHyStart) = (
                        roundTrip, line, megabytes * 1_000_000, isHyStart
                    )
                }
                #expect(seconds <= one * 1.05, "\(world); one connection: \(one) s")
                #expect(world.mostConnections <= 2, "\(world)")
            }
        }
    }

    @Test(arguments: [0.02, 0.1, 0.2], [1e6, 4e6])
    func whereTheServerLimitsEachConnectionAutomaticSegmentsAreFaster(roundTrip: Double, connection: Double) {
        let (world, seconds, one) = Self.times(2) {
            ($0.roundTrip, $0.line, $0.connection) = (roundTrip, 62e6, connection)
        }
        #expect(seconds <= one * 0.4, "\(world); one connection: \(one) s")
        #expect(world.mostConnections == SegmentConnectionGrowth.most)
    }

    /// The obstacle of a single connection on a line.
    enum Obstacle: CaseIterable {
        case none, server, buffer
    }

    /// A new connection over a long line needs seconds until it shows what it gains.
    @Test(arguments: [0.02, 0.1, 0.2], [6.25e6, 62.5e6])
    func automaticSegmentsAreFasterExactlyWhereConnectionsAreLimited(roundTrip: Double, line: Double) {
        for (obstacle, isHyStart) in Obstacle.allCases.flatMap({ [($0, true), ($0, false)] }) {
            let buffer = 2.5e6
            let (world, seconds, one) = Self.times(3) {
                ($0.roundTrip, $0.line, $0.isHyStart) = (roundTrip, line, isHyStart)
                if obstacle == .server { $0.connection = line / 5 }
                if obstacle == .buffer { $0.buffer = buffer }
            }
            let isLimited = obstacle == .server || obstacle == .buffer && buffer / roundTrip < line / 2
            #expect(seconds <= one * (isLimited ? 0.8 : 1.05), "\(world); one connection: \(one) s")
        }
    }

    /// After the first gain little is left, but a new connection needs less for its slow start.
    @Test func afterAGainAFurtherTrialNeedsOnlyTheTimeOfItsSlowStart() {
        let (world, seconds, one) = Self.times(3) {
            ($0.roundTrip, $0.line, $0.buffer, $0.total) = (0.2, 62.5e6, 2.5e6, 150_000_000)
        }
        #expect(seconds <= one * 0.7, "\(world); one connection: \(one) s")
        #expect(world.mostConnections == 4, "\(world)")
    }

    /// A trial between two losses may see no gain; that costs nothing, and a long download tries again.
    @Test(arguments: [0.02, 0.1, 0.2], [0.005, 0.02])
    func whereALineLosesPacketsAutomaticSegmentsAreMostlyFaster(roundTrip: Double, loss: Double) {
        let quotients = (0..<5 as Range<UInt64>).map { seed in
            let (_, seconds, one) = Self.times(seed) {
                ($0.roundTrip, $0.line, $0.loss, $0.total) = (roundTrip, 62.5e6, loss, 40_000_000)
            }
            return seconds / one
        }
        #expect(quotients.count { $0 <= 0.8 } >= 4 && quotients.allSatisfy { $0 <= 1.05 }, "\(quotients)")
    }

    /// The first connection was fast until its first loss, so that there seemed to be no gain, and little was left.
    @Test func aDownloadThatBecomesSlowGetsMoreConnectionsAfterAll() {
        let (world, seconds, one) = Self.times(0) {
            ($0.line, $0.loss, $0.total) = (62.5e6, 0.005, 40_000_000)
        }
        #expect(seconds <= one * 0.4, "\(world); one connection: \(one) s")
        #expect(world.mostConnections == SegmentConnectionGrowth.most)
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func overAnyLineAutomaticSegmentsCostAtMostATwentieth(seed: UInt64) {
        var random = SplitMix64(seed: seed &+ 4000)
        let (world, seconds, one) = Self.times(seed) { world in
            world.roundTrip = Double.random(in: 0.005...0.3, using: &random)
            world.line = Double.random(in: 0.5e6...60e6, using: &random)
            if Bool.random(using: &random) { world.connection = Double.random(in: 0.3e6...60e6, using: &random) }
            world.total = Int64.random(in: 5_000_000...400_000_000, using: &random)
            world.isHyStart = Bool.random(using: &random)
        }
        #expect(seconds <= one * 1.05, "\(world); one connection: \(one) s")
    }
}
