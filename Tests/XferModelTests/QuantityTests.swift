import Testing
import XferModel

@Suite struct QuantityTests {
    @Test(
        arguments: [
            ("0", 0), ("4096", 4096), ("64K", 64_000), ("64Ki", 65_536), ("256Mi", 268_435_456), ("1G", 1_000_000_000),
            ("1Gi", 1 << 30), ("2T", 2_000_000_000_000), ("2Ti", 1 << 41), ("9223372036854775807", Int64.max),
        ] as [(String, Int64)])
    func aSizeIsParsedWithAUnitOf1000Or1024(text: String, bytes: Int64) {
        #expect(ByteSizeText.parse(text) == bytes)
    }

    @Test(
        arguments: [
            "", "K", "-1", "+1", "1.5G", "1 G", "1k", "1KB", "1mi", "0x10", "٣", "9223372036854775808", "10000000Ti",
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
            ("2w", .seconds(1_209_600)),
        ] as [(String, Duration)])
    func aDurationIsParsedWithAUnitOrInSeconds(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        arguments: ["", "s", "-1", "1.5", "1 s", "1y", "1H", "10min", "99999999999999999999", "9223372036854775807w"])
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
