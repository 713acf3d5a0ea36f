import Testing
import XferModel

@testable import XferCommands

@Suite struct FigureTests {
    @Test(
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (10_239, "10 KiB"), (1_048_064, "1.0 MiB"),
            (1_300_000_000, "1.2 GiB"),
            (Int64.max, "8.0 EiB"), (-5, "0 B"),
        ] as [(Int64, String)])
    func sizesHaveAtMostFourDigits(bytes: Int64, text: String) {
        #expect(ByteText.size(bytes) == text)
    }

    @Test func aLimitOfZeroIsPrintedAsNone() {
        #expect(ByteText.limit(0) == "unlimited")
        #expect(ByteText.limit(65_536) == "64 KiB/s")
    }

    @Test(arguments: ["500K", "1.5M", "2Mi", "512Ki", "64K", "1.5Mi", "3G", "250"])
    func aLimitIsPrintedInTheUnitInWhichItWasTyped(text: String) throws {
        let limit = try #require(ByteAmount(parsing: text)).bytes
        let unit = text.drop { $0.isNumber || $0 == "." }
        let name = unit == "K" ? "k" : String(unit)
        #expect(ByteText.limit(limit) == "\(text.prefix { !$0.isLetter }) \(name)B/s")
    }

    @Test func aRateIsPrintedInTheUnitsOfItsLimit() {
        #expect(ByteText.rate(499_800, in: ByteText.units(of: 500_000)) == "500 kB/s")
        #expect(ByteText.rate(511_000, in: ByteText.units(of: 524_288)) == "499 KiB/s")
        #expect(ByteText.rate(499_800, in: ByteText.units(of: nil)) == "488 KiB/s")
    }

    @Test(
        arguments: [
            (0, "0s"), (59, "59s"), (200, "3m20s"), (3900, "1h05m"), (183_600, "2d03h"), (-1, "0s"),
            (Int64.max, "long"),
        ] as [(Int64, String)])
    func durationsHaveAtMostTwoUnits(seconds: Int64, text: String) {
        #expect(DurationText.short(seconds) == text)
    }

    @Test func aHundredPercentIsPrintedOnlyForTheWhole() {
        #expect(Bar.percent(999_999, of: 1_000_000) == "99%")
        #expect(Bar.percent(1_000_000, of: 1_000_000) == "100%")
        #expect(Bar.percent(0, of: 0) == "100%")
        #expect(Bar.percent(5, of: nil) == "")
    }

    @Test func barsFillInEighthsOrInLetters() {
        #expect(Bar(usesUnicode: true).text(0.5, width: 5) == "██▌░░")
        #expect(Bar(usesUnicode: true).text(1, width: 4) == "████")
        #expect(Bar(usesUnicode: false).text(0.5, width: 8) == "===>----")
        #expect(Bar(usesUnicode: false).text(nil, width: 3) == "---")
        #expect(Bar(usesUnicode: false).text(1, width: 3) == "===")
    }

    @Test(arguments: 0...64)
    func barsAlwaysHaveTheirRequestedWidth(step: Int) {
        for bar in [Bar(usesUnicode: true), Bar(usesUnicode: false)] {
            #expect(bar.text(Double(step) / 64, width: 17).count == 17)
        }
    }

    static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    static let fractions: [Double] = [
        .nan, .infinity, -.infinity, -1, 0, 0.5, 1, 2, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    ]

    @Test(arguments: extremes) func everyNumberCanBePrinted(number: Int64) {
        #expect(!ByteText.size(number).isEmpty && !ByteText.rate(number).isEmpty && !ByteText.limit(number).isEmpty)
        #expect(!DurationText.short(number).isEmpty)
        for total in Self.extremes { #expect(Bar.percent(number, of: total).hasSuffix("%")) }
        #expect(!TimeText.local(Timestamp(rawValue: number)).isEmpty)
        #expect(!TimeText.clock(Timestamp(seconds: number)).isEmpty)
        for until in Self.extremes {
            let (now, end) = (Timestamp(rawValue: number), Timestamp(rawValue: until))
            let task = TaskSummary(id: 1, name: "", state: "waiting", waitReason: "retry", waitUntil: end)
            #expect(WaitText.sentence(task, now: now)?.isEmpty == false)
        }
    }

    @Test(arguments: fractions) func everyFractionHasABarOfTheRequestedWidth(fraction: Double) {
        for bar in [Bar(usesUnicode: true), Bar(usesUnicode: false)] {
            #expect(bar.text(fraction, width: 17).count == 17)
        }
        #expect(TimeSpan(seconds: fraction).wholeSeconds >= .min)
    }
}
