import Testing
import XferModel
import XferTestSupport

@testable import XferCore

/// What follows a try of a delivery.
@Suite struct DeliveryRulesTests {
    private static let noon = Timestamp(seconds: 1_767_268_800)

    private func decide(
        _ status: Int?, retryAfter: Int64? = nil, tries: Int = 1, failures: Int = 1, after elapsed: Duration = .zero
    ) -> DeliveryRules.Decision {
        var random = SplitMix64(seed: 19)
        return DeliveryRules.decide(
            status: status, retryAfter: retryAfter, tries: tries, failures: failures, createdAt: Self.noon,
            at: Self.noon.advanced(by: elapsed), using: &random)
    }

    @Test(arguments: [200, 201, 202, 204, 299]) func anAcceptedDeliveryIsDone(status: Int) {
        #expect(decide(status) == .delivered)
        #expect(decide(status, after: .seconds(10 * 86_400)) == .delivered)
    }

    @Test(arguments: [nil, 100, 301, 400, 401, 404, 408, 422, 429, 500, 503] as [Int?])
    func aRefusedDeliveryIsTriedAgainWithinBounds(status: Int?) {
        for tries in [1, 2, 10, 1000, .max] {
            guard case .tryAgain(let next, let pausedUntil) = decide(status, tries: tries, failures: tries) else {
                Issue.record("\(decide(status, tries: tries))")
                return
            }
            let (wait, pause) = (Self.noon.duration(to: next), Self.noon.duration(to: pausedUntil))
            #expect(pause >= .zero && pause <= (tries == 1 ? .seconds(1) : .seconds(300)))
            #expect(wait >= pause && wait <= (tries == 1 ? .seconds(1) : .seconds(900)))
        }
    }

    @Test func goneEndsTheDeliveryAtOnce() {
        guard case .giveUp = decide(410) else {
            Issue.record("\(decide(410))")
            return
        }
    }

    @Test func aDeliveryIsGivenUpAfterThreeDaysButNeverUntried() {
        guard case .tryAgain = decide(503, tries: 400, after: .seconds(3 * 86_400 - 1000)) else {
            Issue.record("given up too early")
            return
        }
        for elapsed in [Duration.seconds(3 * 86_400), .seconds(30 * 86_400)] {
            guard case .giveUp = decide(nil, tries: 1, after: elapsed) else {
                Issue.record("still tried after \(elapsed)")
                return
            }
        }
    }

    @Test func retryAfterDelaysTheReceiverAndTheDelivery() {
        guard case .tryAgain(let next, let pausedUntil) = decide(429, retryAfter: 120) else {
            Issue.record("\(decide(429, retryAfter: 120))")
            return
        }
        #expect(Self.noon.duration(to: pausedUntil) >= .seconds(120) && next >= pausedUntil)
        guard case .tryAgain(let longest, _) = decide(503, retryAfter: .max) else {
            Issue.record("given up")
            return
        }
        #expect(Self.noon.duration(to: longest) <= DeliveryRules.longestWait)
    }

    @Test func slotsAreLimitedInAllPerHostAndForAFailingReceiver() {
        var slots = DeliverySlots()
        func fill(_ webhook: String, _ host: String, isFailing: Bool = false) -> Int {
            var started = 0
            while slots.mayStart(webhook: webhook, host: host, isFailing: isFailing) {
                slots.start(webhook: webhook, host: host)
                started += 1
            }
            return started
        }
        #expect(fill("a", "one") == 16 && fill("b", "one") == 0)
        #expect(fill("c", "two", isFailing: true) == 1)
        #expect(fill("d", "three") == 15 && slots.count == 32 && fill("e", "four") == 0)
        slots.end(webhook: "a", host: "one")
        #expect(fill("b", "one") == 1)
        slots.end(webhook: "c", host: "two")
        #expect(fill("c", "two", isFailing: true) == 1)
    }

    // MARK: A receiver over time

    /// Deliveries to one receiver, tried by the rules one at a time; the clock jumps to the next try.
    private struct World {
        var now = DeliveryRulesTests.noon
        /// When each delivery may be tried, with its tries.
        var waiting: [Int: (next: Timestamp, tries: Int)] = [:]
        var failures = 0
        var pausedUntil = DeliveryRulesTests.noon
        var requests: [(time: Timestamp, delivery: Int)] = []
        var delivered: [Int: Timestamp] = [:]
        var random = SplitMix64(seed: 7)

        init(_ count: Int) { for index in 0..<count { waiting[index] = (now, 0) } }

        mutating func run(until end: Timestamp, answer: (Int, Timestamp) -> Int?) {
            while let (id, place) = waiting.min(by: { ($0.value.next, $0.key) < ($1.value.next, $1.key) }) {
                let time = max(now, place.next, pausedUntil)
                guard time <= end else { return now = end }
                now = time
                requests.append((now, id))
                let decision = DeliveryRules.decide(
                    status: answer(id, now), tries: place.tries + 1, failures: failures + 1,
                    createdAt: DeliveryRulesTests.noon, at: now, using: &random)
                switch decision {
                case .delivered:
                    waiting[id] = nil
                    delivered[id] = now
                    failures = 0
                case .tryAgain(let next, let pause):
                    waiting[id] = (next, place.tries + 1)
                    failures += 1
                    pausedUntil = pause
                case .giveUp(let pause):
                    waiting[id] = nil
                    pausedUntil = pause
                    failures += 1
                }
            }
        }
    }

    @Test func anHoursOutageCostsFewRequestsAndDeliversEverythingSoonAfterwards() {
        var world = World(1000)
        let end = Self.noon.advanced(by: .seconds(3600))
        world.run(until: end) { _, _ in nil }
        #expect(world.delivered.isEmpty && world.requests.count < 120, "\(world.requests.count) requests")
        world.run(until: end.advanced(by: .seconds(1800))) { _, _ in 204 }
        #expect(world.delivered.count == 1000)
        let first = world.delivered.values.min() ?? .init(microseconds: .max)
        #expect(end.duration(to: first) <= .seconds(300))
    }

    @Test func aDeliveryThatIsAlwaysRefusedHoldsUpNoOther() {
        var world = World(200)
        world.run(until: Self.noon.advanced(by: .seconds(4 * 86_400))) { id, _ in id == 0 ? 422 : 200 }
        #expect(world.delivered.count == 199 && world.delivered[0] == nil && world.waiting.isEmpty)
        let last = world.delivered.values.max() ?? .init(microseconds: .max)
        #expect(Self.noon.duration(to: last) <= .seconds(60))
        let tries = world.requests.count { $0.delivery == 0 }
        #expect(tries > 200 && tries < 2000, "\(tries) tries")
    }
}
