import Testing
import XferModel

@Suite("Sizes and durations as people write them")
struct QuantityTests {
    @Test(
        "A size is digits and a unit of 1000 or 1024",
        arguments: [
            ("0", 0), ("4096", 4096), ("64K", 64_000), ("64Ki", 65_536), ("256Mi", 268_435_456), ("1G", 1_000_000_000),
            ("1Gi", 1 << 30), ("2T", 2_000_000_000_000), ("2Ti", 1 << 41), ("9223372036854775807", Int64.max),
        ] as [(String, Int64)])
    func sizes(text: String, bytes: Int64) {
        #expect(ByteSizeText.parse(text) == bytes)
    }

    @Test(
        "Anything else is no size",
        arguments: [
            "", "K", "-1", "+1", "1.5G", "1 G", "1k", "1KB", "1mi", "0x10", "٣", "9223372036854775808", "10000000Ti",
        ])
    func noSizes(text: String) {
        #expect(ByteSizeText.parse(text) == nil)
    }

    @Test(
        "A size is written with the largest unit that loses nothing",
        arguments: [0, 1, 999, 1000, 1024, 65_536, 268_435_456, 1_000_000_000, 1_000_001, Int64.max])
    func sizesReadBack(bytes: Int64) {
        #expect(ByteSizeText.parse(ByteSizeText.format(bytes)) == bytes)
    }

    @Test("Sizes look as people wrote them")
    func sizesLook() {
        #expect(ByteSizeText.format(268_435_456) == "256Mi")
        #expect(ByteSizeText.format(1_000_000_000) == "1G")
        #expect(ByteSizeText.format(1025) == "1025")
    }

    @Test(
        "A duration is digits and a unit, seconds without one",
        arguments: [
            ("0", .zero), ("90", .seconds(90)), ("90s", .seconds(90)), ("500ms", .milliseconds(500)),
            ("15m", .seconds(900)), ("24h", .seconds(86_400)), ("30d", .seconds(2_592_000)),
            ("2w", .seconds(1_209_600)),
        ] as [(String, Duration)])
    func durations(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "Anything else is no duration",
        arguments: ["", "s", "-1", "1.5", "1 s", "1y", "1H", "10min", "99999999999999999999", "9223372036854775807w"])
    func noDurations(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "A duration is written so that it reads back",
        arguments: [Duration.zero, .milliseconds(1), .milliseconds(2500), .seconds(2), .seconds(86_400)])
    func durationsReadBack(duration: Duration) {
        #expect(DurationText.parse(DurationText.format(duration)) == duration)
    }

    @Test("Every number has a text", arguments: [Int64.min, -1, 0, .max])
    func everyNumberIsWritten(number: Int64) {
        #expect(!ByteSizeText.format(number).isEmpty)
        for duration in [Duration.seconds(number), .milliseconds(number), .nanoseconds(number)] {
            #expect(!DurationText.format(duration).isEmpty)
        }
    }
}
