import Testing
import XferModel
import XferTestSupport

@testable import XferCore

@Suite struct OriginWindowTests {
    private static let start = OriginWorld.instant(0)

    private static func answer(_ http: OriginWindow.HTTP = .http1) -> OriginWindow.Outcome {
        .answered(OriginWindow.Answer(http: http, latency: .milliseconds(100), bytes: 1000))
    }

    /// Worlds of all kinds, the same for each seed.
    private static func world(_ seed: UInt64) -> OriginWorld {
        var random = SplitMix64(seed: seed &+ 7000)
        var world = OriginWorld(seed: seed)
        world.roundTrip = [0.001, 0.02, 0.1, 0.2, 1].randomElement(using: &random) ?? 0.1
        world.http = Bool.random(using: &random) ? .http1 : .http2
        world.limit = [1, 2, 8, 10, 32, .max].randomElement(using: &random) ?? .max
        if Bool.random(using: &random) {
            world.capacity = Double.random(in: 0.5...60, using: &random) / world.roundTrip
        }
        world.loss = [0, 0, 0.005, 0.02].randomElement(using: &random) ?? 0
        return world
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func aWindowReachesTwoThirdsOfTheOptimumInTenRoundTrips(seed: UInt64) {
        var world = Self.world(seed)
        // It takes five steps to 100 with HTTP/2.
        world.run(for: 12 * world.roundTrip)
        let before = (world.answered, world.time)
        world.run(for: 20 * world.roundTrip)
        let rate = Double(world.answered - before.0) / (world.time - before.1)
        // Lost packets lengthen the mean time of a request, whatever the window is.
        let possible = min(
            world.optimum,
            Double(min(world.window.most, world.limit))
                / (world.roundTrip * (1 + 4 * world.loss)))
        #expect(rate >= possible / 1.5, "\(world)")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func refusalsAreFewAndConnectionsNeverAboveTheirLimit(seed: UInt64) {
        var world = Self.world(seed)
        world.run(for: 300 * world.roundTrip)
        #expect(Double(world.refused) <= 0.02 * Double(world.answered) + 8, "\(world)")
        #expect(world.most <= (world.http == .http1 ? 6 : 100))
    }

    /// `1.5` and log₂ hold for a limit that falls while requests run, too.
    @Test(arguments: [1, 2, 8, 32])
    func aLoweredLimitCostsFewRefusals(limit: Int) {
        var world = OriginWorld(seed: UInt64(limit))
        world.http = .http2
        world.run(for: 100 * world.roundTrip)
        #expect(world.refused == 0 && world.window.size == 100)
        world.limit = limit
        world.run(for: 500 * world.roundTrip)
        #expect(world.window.size <= limit)
        // Those that were under way, and half of them each time.
        #expect(world.refused <= 300)
    }

    @Test func anAnswerToRetryAfterBeginsAtOne() {
        var world = OriginWorld(seed: 1)
        world.http = .http2
        world.limit = 20
        world.requestsWait = true
        world.run(for: 3 * world.roundTrip)
        #expect(world.window.size == 1 || world.refused == 0)
        world.run(for: 100 * world.roundTrip)
        #expect(world.refused <= 32)
        #expect((10...20).contains(world.window.size))
    }

    @Test func aCeilingIsForgottenAfterTenMinutes() {
        var world = OriginWorld(seed: 2)
        world.http = .http2
        world.limit = 10
        world.run(for: 60)
        #expect(world.window.size == 10)
        world.limit = .max
        world.run(for: 500)
        #expect(world.window.size == 10 && world.window.reason == .refused)
        world.run(for: 100)
        #expect(world.window.size == 100)
    }

    @Test(arguments: [1, 10])
    func aConnectionFullOfStreamsIsNotJoinedByAnother(streams: Int) {
        var world = OriginWorld(seed: 3)
        world.http = .http2
        world.streams = streams
        world.run(for: 20 * world.roundTrip)
        #expect(world.window.size <= max(streams, 1) * 2)
    }

    @Test(arguments: [1, 5, 10])
    func aConnectionWhoseStreamsBecomeFewerIsNotJoinedByOthers(streams: Int) {
        var world = OriginWorld(seed: 3)
        world.http = .http2
        world.run(for: 30 * world.roundTrip)
        #expect(world.window.size == 100)
        world.streams = streams
        world.run(for: 30 * world.roundTrip)
        #expect(world.window.size <= streams)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func theWindowOvershootsALimitAtMostLogarithmicallyOften(seed: UInt64) {
        var world = Self.world(seed)
        world.run(for: 300 * world.roundTrip)
        // log₂ of the 100 requests that a window may reach.
        #expect(world.overshoots <= 7, "\(world)")
    }

    @Test(arguments: [OriginWindow.HTTP.http1, .http2])
    func fastErrorsWidenTheWindowNotBeyondItsMost(http: OriginWindow.HTTP) {
        var world = OriginWorld(seed: 9)
        (world.http, world.bytes, world.roundTrip) = (http, 0, 0.001)
        world.run(for: 0.5)
        #expect(world.most <= (http == .http1 ? 6 : 100) && world.refused == 0)
    }

    @Test func aServerThatSlowsDownWhenAskedMoreIsAskedLess() {
        var world = OriginWorld(seed: 5)
        world.http = .http2
        world.capacity = 100 / world.roundTrip
        world.comfort = 16
        world.run(for: 100 * world.roundTrip)
        let (before, began) = (world.answered, world.time)
        world.run(for: 100 * world.roundTrip)
        // Sixteen at once would be answered in a round trip each.
        let rate = Double(world.answered - before) / (world.time - began)
        #expect(rate >= 16 / world.roundTrip / 1.5, "\(world.window)")
    }

    @Test func anImpoliteWindowGrowsToSixteenOnlyWhileThatIsFaster() {
        var fast = OriginWorld(seed: 4, bounds: .impolite)
        fast.run(for: 60 * fast.roundTrip)
        #expect(fast.window.size == 16 && fast.most <= 16)
        var refusing = OriginWorld(seed: 4, bounds: .impolite)
        refusing.limit = 9
        refusing.run(for: 60 * refusing.roundTrip)
        #expect(refusing.window.size <= 9)
    }

    // MARK: Single steps

    @Test func refusalsOfRequestsThatBeganBeforeShrinkItOnce() {
        var window = OriginWindow(at: Self.start)
        let tickets = (0..<6).map { _ in window.begin(at: Self.start) }
        #expect(window.isFull)
        for ticket in tickets.dropFirst(4) { window.end(ticket, .refused(requestsWait: false), at: Self.start) }
        #expect(window.size == 3 && window.refusals == 2)
    }

    @Test func aRefusalWithoutOthersIsNotTheWindows() {
        var window = OriginWindow(at: Self.start)
        let ticket = window.begin(at: Self.start)
        let isBackOff = window.end(ticket, .refused(requestsWait: false), at: Self.start)
        #expect(!isBackOff && window.size == 6)
    }

    @Test func anOriginThatNeverAnswersShrinksToOneAndRecoversWithAnAnswer() {
        var window = OriginWindow(at: Self.start)
        let first = window.begin(at: Self.start)
        let second = window.begin(at: Self.start)
        window.end(first, .silent, at: OriginWorld.instant(60))
        #expect(window.size == 1 && window.isSilent && window.reason == .silent)
        window.end(second, Self.answer(), at: OriginWorld.instant(61))
        #expect(!window.isSilent)
    }

    @Test func aBrokenConnectionBesideAnswersIsARefusalAndOtherwiseSilence() {
        var window = OriginWindow(at: Self.start)
        let tickets = (0..<4).map { _ in window.begin(at: Self.start) }
        window.end(tickets[0], Self.answer(), at: OriginWorld.instant(1))
        window.end(tickets[3], .broken, at: OriginWorld.instant(1.1))
        #expect(!window.isSilent && window.size < 6)
        var dead = OriginWindow(at: Self.start)
        let ticket = dead.begin(at: Self.start)
        dead.end(ticket, .broken, at: OriginWorld.instant(1))
        #expect(dead.isSilent && dead.size == 1)
    }

    /// Any order of outcomes, with a clock that stands still, jumps and goes back.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func liesAreSurvivedWithinTheBounds(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var window = OriginWindow(
            bounds: OriginWindow.Bounds(connections: Int.random(in: 1...16, using: &random)), at: Self.start)
        var underWay: [OriginWindow.Ticket] = []
        func time(_ random: inout SplitMix64) -> MonotonicInstant {
            let times: [Int64] = [.min, -1, 0, 1, 1_000_000_000, 600_000_000_000, .max]
            return MonotonicInstant(nanoseconds: times.randomElement(using: &random) ?? 0)
        }
        for _ in 0..<2000 {
            if underWay.isEmpty || Bool.random(using: &random), underWay.count < 200 {
                underWay.append(window.begin(at: time(&random)))
            } else if let index = underWay.indices.randomElement(using: &random) {
                let latency: Duration? =
                    [nil, .zero, .seconds(-5), .seconds(Int64.max), .milliseconds(1)]
                    .randomElement(using: &random) ?? nil
                let answer = OriginWindow.Answer(
                    http: [.unknown, .http1, .http2].randomElement(using: &random) ?? .unknown,
                    connection: UInt16.random(in: 0...3, using: &random), isReused: Bool.random(using: &random),
                    latency: latency, bytes: [.min, 0, 1, .max].randomElement(using: &random) ?? 0)
                let outcomes: [OriginWindow.Outcome] = [
                    .answered(answer), .answered(answer), .answered(answer), .refused(requestsWait: true),
                    .refused(requestsWait: false), .broken, .silent, .other,
                ]
                window.end(
                    underWay.remove(at: index), outcomes.randomElement(using: &random) ?? .other, at: time(&random))
            }
            #expect(window.size >= 1 && window.size <= window.most && window.most <= 100)
            #expect(window.underWay == underWay.count)
        }
    }
}
