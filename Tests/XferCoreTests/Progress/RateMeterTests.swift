import Testing
import XferCore
import XferModel

@Suite struct RateMeterTests {
    func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func aSteadyStreamHasItsOwnRate() {
        var meter = RateMeter()
        #expect(meter.rate == 0)
        for tick in 0...20 { meter.sample(Int64(tick) * 500, at: instant(Double(tick) / 2)) }
        #expect(meter.rate == 1000)
    }

    @Test func theRateOfAStalledTransferFadesToZero() {
        var meter = RateMeter()
        meter.sample(0, at: instant(0))
        meter.sample(10_000, at: instant(1))
        for tick in 2...40 { meter.sample(10_000, at: instant(Double(tick))) }
        #expect(meter.rate == 0)
    }

    @Test func droppedBytesRestartTheMeasurement() {
        var meter = RateMeter()
        meter.sample(0, at: instant(0))
        meter.sample(9000, at: instant(1))
        meter.sample(0, at: instant(2))
        #expect(meter.rate == 0)
        meter.sample(700, at: instant(3))
        #expect(meter.rate == 700)
    }

    @Test func ratesBeyondTheRangeAreTheGreatest() {
        var meter = RateMeter()
        meter.sample(.min, at: instant(0))
        meter.sample(.max, at: MonotonicInstant(nanoseconds: 1))
        #expect(meter.rate == ByteCount.greatest)
        meter.sample(.min, at: MonotonicInstant(nanoseconds: .max))
        #expect(meter.rate == 0)
    }
}
