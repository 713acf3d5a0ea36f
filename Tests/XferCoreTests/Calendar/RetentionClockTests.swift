import Testing
import XferCore
import XferModel

/// When ages may be told from the wall clock.
struct RetentionClockTests {
    private static let day = Duration.seconds(86_400)
    private static let start = ClockReading(
        wall: Timestamp(seconds: 1_767_268_800), uptime: MonotonicInstant(nanoseconds: 5_000_000_000), boot: "a")

    private static func after(
        _ reading: ClockReading, wall: Duration, uptime: Duration, boot: String? = nil
    ) -> ClockReading {
        ClockReading(
            wall: reading.wall.advanced(by: wall), uptime: reading.uptime.advanced(by: uptime),
            boot: boot ?? reading.boot)
    }

    @Test(arguments: [0, 1, 299, 86_400, 40_000_000]) func aClockThatRunsOnIsTrusted(seconds: Int64) {
        var clock = RetentionClock(Self.start)
        let step = clock.observe(Self.after(Self.start, wall: .seconds(seconds), uptime: .seconds(seconds)))
        #expect(step == .zero && clock.isTrusted)
    }

    /// Every pair of a step and an elapsed time, in one boot and across two.
    @Test func aStepBeyondThePlausibleRangeIsNotTrusted() {
        let steps: [Int64] = [
            -40_000_000, -86_400, -3600, -301, -300, -1, 0, 1, 300, 301, 3600, 86_399, 86_400, 86_401, 34_560_000,
        ]
        for step in steps {
            for elapsed: Int64 in [0, 1, 3600, 86_400, 1_000_000] {
                var clock = RetentionClock(Self.start)
                let told = clock.observe(
                    Self.after(Self.start, wall: .seconds(elapsed + step), uptime: .seconds(elapsed)))
                #expect(told == .seconds(step))
                #expect(clock.isTrusted == (abs(step) <= 300), "\(step) \(elapsed)")
                // Off for an unknown time: the uptime restarts.
                var other = RetentionClock(Self.start)
                let reading = ClockReading(
                    wall: Self.start.wall.advanced(by: .seconds(step)),
                    uptime: MonotonicInstant(nanoseconds: elapsed * 1_000_000_000), boot: "b")
                #expect(other.observe(reading) == nil)
                #expect(other.isTrusted == (-300...86_400).contains(step), "\(step) across boots")
            }
        }
    }

    @Test func anUptimeThatBecameLessIsOfAnotherBoot() {
        var clock = RetentionClock(Self.start)
        #expect(clock.observe(Self.after(Self.start, wall: .seconds(10), uptime: .seconds(-1))) == nil)
        #expect(clock.isTrusted)
    }

    @Test(arguments: [34_560_000, -34_560_000, 86_401, -301]) func aChangedClockIsTrustedAfterADay(step: Int64) {
        var clock = RetentionClock(Self.start)
        var now = Self.after(Self.start, wall: .seconds(step), uptime: .zero)
        clock.observe(now)
        for hour in 1...24 {
            #expect(!clock.isTrusted, "hour \(hour)")
            now = Self.after(now, wall: .seconds(3600), uptime: .seconds(3600))
            clock.observe(now)
        }
        #expect(clock.isTrusted)
    }

    @Test func aClockSetBackAgainRestartsItsDayOfProbation() {
        var clock = RetentionClock(Self.start)
        var now = Self.after(Self.start, wall: Self.day * 400, uptime: .zero)
        clock.observe(now)
        now = Self.after(now, wall: Self.day / 2, uptime: Self.day / 2)
        clock.observe(now)
        now = Self.after(now, wall: .zero - Self.day * 400, uptime: .zero)
        clock.observe(now)
        now = Self.after(now, wall: Self.day / 2, uptime: Self.day / 2)
        clock.observe(now)
        #expect(!clock.isTrusted)
        clock.observe(Self.after(now, wall: Self.day / 2, uptime: Self.day / 2))
        #expect(clock.isTrusted)
    }

    @Test func aMachineWhoseClockIsBehindAtEachBootIsEventuallyTrusted() {
        var clock = RetentionClock(Self.start)
        var now = Self.start
        var trusted = 0
        for boot in 1...9 {
            // It was off for fifteen hours, begins where it stopped, is set after a minute and runs for nine hours.
            now = ClockReading(wall: now.wall, uptime: MonotonicInstant(nanoseconds: 1), boot: "boot\(boot)")
            clock.observe(now)
            now = Self.after(now, wall: .seconds(60 + 15 * 3600), uptime: .seconds(60))
            clock.observe(now)
            now = Self.after(now, wall: .seconds(9 * 3600), uptime: .seconds(9 * 3600))
            clock.observe(now)
            if clock.isTrusted { trusted += 1 }
        }
        #expect(trusted >= 3)
    }

    @Test func theTextOfAClockIsParsedAndDamagedTextIsRefused() throws {
        var clock = RetentionClock(Self.start)
        clock.observe(Self.after(Self.start, wall: Self.day * 3, uptime: .seconds(1)))
        #expect(RetentionClock(text: clock.text) == clock)
        for text in [
            "", "1", "1 2 3 4", "2 1 1 0 a", "1 x 1 0 a", "1 \(Int64.max) 1 0 a", "1 1 -1 0 a", "1 1 1 -1 a",
            "1 \(Int64.min) 1 0 a", "1 1 \(Int64.max) 0 a", "1 1 1 0 " + String(repeating: "a", count: 65),
        ] { #expect(RetentionClock(text: text) == nil, "\(text)") }
        let long = try #require(RetentionClock(text: "1 1 1 \(Int64.max) a"))
        #expect(long.remaining == RetentionClock.probation)
    }
}
