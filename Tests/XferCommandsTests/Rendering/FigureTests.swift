import Testing
import XferModel

@testable import XferCommands

@Suite struct FigureTests {
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
