import Testing
import XferModel

@Suite struct QuantityTests {
    @Test(
        arguments: [
            ("0", 0), ("4096", 4096), ("64K", 64_000), ("64Ki", 65_536), ("256Mi", 268_435_456), ("1G", 1_000_000_000),
            ("1Gi", 1 << 30), ("2T", 2_000_000_000_000), ("2Ti", 1 << 41), ("9223372036854775807", Int64.max),
            ("2MB", 2_000_000), ("1.5M", 1_500_000), ("2MiB", 2 << 20), ("5 M", 5_000_000), ("2KB", 2000), ("1k", 1000),
            ("1mi", 1 << 20), ("1.5 GiB/s", 3 << 29), (".5K", 500), ("0.0001K", 0), ("3B", 3), ("7B/s", 7),
            ("64k/s", 64_000),
        ] as [(String, Int64)])
    func aSizeIsParsedWithAUnitOf1000Or1024(text: String, bytes: Int64) {
        #expect(ByteSizeText.parse(text) == bytes)
    }

    @Test(
        arguments: [
            "", "K", "-1", "+1", "1.5.0G", "1  G", " 1", "1 ", "1KBB", "1bK", "1/sB", "0x10", "1e3", "٣", ".", "1,5M",
            "9223372036854775808", "10000000Ti", "1.0000000001K",
        ])
    func aTextThatIsNoSizeIsRejected(text: String) {
        #expect(ByteSizeText.parse(text) == nil)
    }

    @Test(
        arguments: [0, 1, 999, 1000, 1024, 65_536, 268_435_456, 1_000_000_000, 1_000_001, Int64.max])
    func aSizeIsWrittenWithTheLargestExactUnit(bytes: Int64) {
        #expect(ByteSizeText.parse(ByteSizeText.format(bytes)) == bytes)
    }

    @Test func sizesAreWrittenReadably() {
        #expect(ByteSizeText.format(268_435_456) == "256Mi")
        #expect(ByteSizeText.format(1_000_000_000) == "1G")
        #expect(ByteSizeText.format(1025) == "1025")
    }

    @Test(
        arguments: [
            ("0", .zero), ("90", .seconds(90)), ("90s", .seconds(90)), ("500ms", .milliseconds(500)),
            ("15m", .seconds(900)), ("24h", .seconds(86_400)), ("30d", .seconds(2_592_000)),
            ("2w", .seconds(1_209_600)), ("1h30m", .seconds(5400)), ("0.25", .milliseconds(250)),
            ("10min", .seconds(600)),
            ("1.5h", .seconds(5400)), ("2m0.5s", .milliseconds(120_500)),
        ] as [(String, Duration)])
    func aDurationIsParsedWithAUnitOrInSeconds(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        arguments: [
            "", "s", "-1", "1 s", "1y", "1H", "1h30", "30 1h", "0.0000001", "1001y", "99999999999999999999",
            "9223372036854775807w", "53000w",
        ])
    func aTextThatIsNoDurationIsRejected(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        arguments: [Duration.zero, .milliseconds(1), .milliseconds(2500), .seconds(2), .seconds(86_400)])
    func aWrittenDurationParsesToItself(duration: Duration) {
        #expect(DurationText.parse(DurationText.format(duration)) == duration)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func everyNumberCanBeWritten(number: Int64) {
        #expect(!ByteSizeText.format(number).isEmpty)
        for duration in [Duration.seconds(number), .milliseconds(number), .nanoseconds(number)] {
            #expect(!DurationText.format(duration).isEmpty)
        }
    }
}
