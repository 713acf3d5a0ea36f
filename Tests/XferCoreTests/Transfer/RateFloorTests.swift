import Testing
import XferModel

@testable import XferCore

@Suite struct RateFloorTests {
    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    /// 100 bytes per second over 10 s, from 0 s on.
    private func floor() throws -> RateFloor {
        var floor = try #require(RateFloor(rate: 100, time: 10))
        floor.begin(at(0), delays: .zero)
        return floor
    }

    @Test(arguments: [(0, 10.0), (100, 0), (-1, 10)]) func withoutRateOrTimeThereIsNone(_ rate: Int64, _ time: Double) {
        #expect(RateFloor(rate: rate, time: time) == nil)
    }

    @Test func beforeTheBodyNothingIsExpected() throws {
        let floor = try #require(RateFloor(rate: 100, time: 10))
        #expect(floor.deadline == nil)
    }

    @Test(arguments: [(0, true), (999, true), (1000, false), (5000, false)])
    func aWindowWithTooFewBytesIsTooSlow(_ bytes: Int, _ isTooSlow: Bool) throws {
        var floor = try floor()
        floor.onBytes(bytes)
        #expect(floor.deadline == at(10))
        var early = floor
        #expect(early.isTooSlow(at(9.9), delays: .zero) == false)
        #expect(floor.isTooSlow(at(10), delays: .zero) == isTooSlow)
        if !isTooSlow { #expect(floor.deadline == at(20)) }
    }

    @Test func eachWindowCountsForItself() throws {
        var floor = try floor()
        floor.onBytes(100_000)
        #expect(floor.isTooSlow(at(10), delays: .zero) == false)
        #expect(floor.isTooSlow(at(20), delays: .zero) == true)
    }

    @Test func pausesOfTheServiceDoNotCount() throws {
        var floor = try floor()
        floor.onPause(at(2))
        #expect(floor.deadline == nil)
        #expect(floor.isTooSlow(at(50), delays: .zero) == false)
        floor.onResume(at(102))
        #expect(floor.deadline == at(110))
        #expect(floor.isTooSlow(at(110), delays: .zero) == true)
    }

    @Test func delaysOfTheServiceProlongTheWindow() throws {
        var floor = try floor()
        #expect(floor.isTooSlow(at(10), delays: .seconds(4)) == false)
        #expect(floor.deadline == at(14))
        #expect(floor.isTooSlow(at(14), delays: .seconds(4)) == true)
    }

    @Test func aProcessThatWasStoppedBlamesNoServer() throws {
        var floor = try floor()
        #expect(floor.isTooSlow(at(15.1), delays: .zero) == false)
        #expect(floor.deadline == at(25.1))
        #expect(floor.isTooSlow(at(25.1), delays: .zero) == true)
    }

    @Test func theNextRequestBeginsAgain() throws {
        var floor = try floor()
        floor.end()
        #expect(floor.deadline == nil)
        floor.begin(at(100), delays: .zero)
        #expect(floor.deadline == at(110))
    }

    @Test func extremeNumbersSaturate() throws {
        var floor = try #require(RateFloor(rate: .max, time: .greatestFiniteMagnitude))
        floor.begin(at(0), delays: .zero)
        floor.onBytes(.max)
        floor.onBytes(.max)
        #expect(floor.deadline != nil)
        #expect(floor.isTooSlow(at(1), delays: .seconds(1 << 40)) == false)
    }
}
