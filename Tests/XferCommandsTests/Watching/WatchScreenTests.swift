import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct WatchScreenTests {
    private static let styled = WatchScreen(
        style: Style(isEnabled: true), glyphs: Glyphs(usesUnicode: true), now: Timestamp(rawValue: 0))
    private static let plain = WatchScreen(
        style: .plain, glyphs: Glyphs(usesUnicode: true), now: Timestamp(rawValue: 0))
    private static let ascii = WatchScreen(
        style: .plain, glyphs: Glyphs(usesUnicode: false), now: Timestamp(rawValue: 0))

    private static let states = [
        "running", "queued", "waiting", "paused", "staged", "completed", "failed", "cancelled",
    ]

    /// Every state, hostile and wide names, and more than fits.
    private func busy() -> Watched {
        var watched = Watched((1...120).map { ($0, Self.states[$0 % 8]) })
        var tasks: [WatchTask] = []
        for (index, name) in ["日本語のとても長いファイル名です.tar.gz", "a\u{1b}[31m\u{202e}gpj.exe\n", "e\u{301}👍🏽.iso"].enumerated() {
            var task = watched.task(Int64(8 * (index + 1)), "running")
            task.summary.name = name
            (task.summary.received, task.summary.total) = (300 << 20, 600 << 20)
            (task.summary.rate, task.summary.eta, task.summary.phase) = (12 << 20, 25, "transferring")
            tasks.append(task)
        }
        watched.answer(.running, tasks)
        return watched
    }

    @Test func everyScreenHasItsSizeWhateverItShows() {
        let watched = busy()
        let typed: [[Key]] = [
            [], ["o"], ["o", .pageDown], ["?"], ["c"], ["l", "5"], ["/", "f"], [.end], ["L", "x", .enter],
        ]
        let pictures = typed.map { keys in
            var other = watched
            for key in keys { other.press(key) }
            return other.model
        }
        for (rows, columns) in [1, 2, 3, 5, 8, 10, 12, 16, 24, 60].flatMap({ rows in
            [1, 5, 20, 40, 59, 60, 80, 119, 120, 200].map { (rows, $0) }
        }) {
            for var model in pictures {
                model.size = Terminal.Size(columns: columns, rows: rows)
                let lines = Self.plain.lines(model)
                #expect(lines.count == rows)
                #expect(lines.allSatisfy { $0.columns <= columns && $0.columns == TextWidth.columns(of: $0.text) })
                let other = (rows + columns).isMultiple(of: 2) ? Self.styled.lines(model) : Self.ascii.lines(model)
                #expect(other.count == rows && other.allSatisfy { $0.columns <= columns })
            }
        }
    }

    @Test func coloursTakeNoRoom() {
        let model = busy().model
        #expect(Self.styled.lines(model).map(\.columns) == Self.plain.lines(model).map(\.columns))
    }

    @Test func withoutUnicodeEveryCharacterIsASCII() {
        var watched = busy()
        for keys: [Key] in [[], ["o"], ["c"], ["?"], [.escape, .escape, "/", "日"], [.escape, "l", "日", .enter]] {
            for key in keys { watched.press(key) }
            for line in Self.ascii.lines(watched.model) {
                #expect(line.text.utf8.allSatisfy { (32..<127).contains($0) })
            }
        }
    }

    @Test func namesCannotReachTheTerminal() {
        for line in Self.plain.lines(busy().model) {
            #expect(!line.text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202e })
        }
    }

    @Test func withoutColoursTheSelectionHasAMark() {
        var watched = Watched([(1, "running"), (2, "queued")])
        watched.press(.down)
        let marked = Self.plain.lines(watched.model).filter { $0.text.hasPrefix("> ") }
        #expect(marked.count == 1 && marked[0].text.contains("file2.iso"))
    }

    @Test func theSelectedRowIsInReverseOverItsWholeWidth() {
        let watched = Watched([(1, "running")])
        let line = Self.styled.lines(watched.model).first { $0.text.contains("file1") }
        #expect(line?.text.hasPrefix("\u{1b}[7m> ") == true && line?.columns == 80)
        #expect(line?.text.ranges(of: "\u{1b}[0m").count == 1, "nothing within ends it")
    }

    @Test func theHeadHasCountsProgressRatesAndLimits() throws {
        var watched = Watched([(1, "running"), (2, "queued"), (3, "failed")])
        var stats = QueueStats.Result()
        (stats.counts.running, stats.counts.queued, stats.counts.failed) = (1, 1, 1)
        stats.rates = QueueStats.Rates(received: 1 << 20, sent: 0)
        (stats.limits.maxReceiveRate, stats.limits.maxActive) = (2 << 20, 5)
        watched.model.onEvent(try EventMessage(lenient: Wire.progress(1, received: 10 << 20, total: 40 << 20)))
        watched.model.onAnswer(.stats(stats), to: .stats, at: watched.now)
        let lines = Self.plain.lines(watched.model).map(\.text)
        #expect(lines[0] == "running 1/5  queued 1  failed 1")
        #expect(lines[1].hasSuffix(" 25%   1.0 MiB/s  >30s left  10 MiB of 40 MiB") && lines[1].hasPrefix("███"))
        #expect(lines[2].hasSuffix("█  limit 2.0 MiB/s  4 per host  peak 1.0 MiB/s"))
        stats.paused = true
        watched.model.onAnswer(.stats(stats), to: .stats, at: watched.now)
        #expect(Self.plain.lines(watched.model)[0].text.hasPrefix("PAUSED  running 1/5"))
    }

    @Test func aLabelledTaskIsListedByItsLabelAndItsFileIsNamedBelow() throws {
        let watched = Watched([(1, "completed")], ["label": "nightly", "final_path": "/d/a.iso", "url": "http://h/b"])
        let lines = Self.plain.lines(watched.model).map(\.text)
        #expect(lines.contains { $0.hasPrefix(">  1 completed nightly ") }, "\(lines)")
        #expect(lines[lines.count - 2].hasSuffix("nightly │ a.iso │ h"), "\(lines)")
    }

    @Test func theReasonAndTheEndOfAWaitAreShown() {
        let watched = Watched(
            [(1, "waiting")],
            [
                "wait": ["reason": "retry", "until": "1970-01-01T00:00:20.000Z"],
                "error": ["reason": "connect_timeout", "message": "", "is_retriable": true],
            ])
        let lines = Self.plain.lines(watched.model).map(\.text)
        #expect(lines.contains { $0.contains("waiting   file1.iso") && $0.contains("next attempt in 20s after conne") })
        #expect(lines[22].contains("next attempt in 20s after connect timeout │ at "), "\(lines[22])")
    }

    @Test func aNarrowScreenKeepsIDStateNameAndHowLongItWaits() {
        var watched = Watched(
            [(1, "waiting")], ["wait": ["reason": "retry", "until": "1970-01-01T00:01:20.000Z"]])
        watched.model.size = Terminal.Size(columns: 40, rows: 16)
        let row = Self.plain.lines(watched.model).first { $0.text.hasPrefix(">  1 wait   file1.iso ") }
        #expect(row?.columns == 40 && row?.text.contains(" 1m20s") == true)
    }

    @Test func theFooterSaysKeysMessagesNoticesAndWhatIsTyped() {
        var watched = Watched([(7, "running")])
        func footer(_ columns: Int = 80) -> String {
            watched.model.size = Terminal.Size(columns: columns, rows: 24)
            return Self.plain.lines(watched.model).last?.text ?? ""
        }
        #expect(footer(40) == "space pause  c cancel  ? help  q quit")
        #expect(footer(200).hasPrefix("↑↓ select  space pause") && footer(200).hasSuffix("? help  q quit"))
        watched.press("c")
        #expect(footer() == "cancel #7 file7.iso and delete its bytes? (y/n) ")
        watched.press("n")
        #expect(footer() == "not cancelled: #7")
        watched.press("l")
        #expect(footer().hasPrefix("limit of #7: _ (such as 500K"))
        watched.press("5")
        #expect(footer() == "limit of #7: 5_")
        watched.press(.escape)
        watched.model.notice = "the daemon is gone; reconnecting"
        #expect(footer() == "the daemon is gone; reconnecting")
    }

    @Test func detailsLieBesideBelowOrInsteadOfTheList() {
        #expect(WatchLayout(size: .init(columns: 120, rows: 24), hasPane: true).pane == .beside)
        #expect(WatchLayout(size: .init(columns: 80, rows: 24), hasPane: true).pane == .below)
        #expect(WatchLayout(size: .init(columns: 80, rows: 12), hasPane: true).pane == .instead)
        #expect(WatchLayout(size: .init(columns: 80, rows: 24), hasPane: false).pane == nil)
    }

    @Test func longTextIsWrappedAtBlanks() {
        #expect(WatchDetails.wrapped("one two three", to: 7) == ["one two", "three"])
        #expect(WatchDetails.wrapped("abcdefgh", to: 3) == ["abc", "def", "gh"])
        #expect(WatchDetails.wrapped("日本語", to: 1) == ["日", "本", "語"], "wider than there is room")
        #expect(WatchDetails.wrapped("", to: 5) == [""])
    }
}

@Suite struct RateHistoryTests {
    private let start = ContinuousClock().now

    @Test func secondsWithoutASampleAreFilled() {
        var history = RateHistory()
        history.record(5, at: start)
        history.record(6, at: start + .milliseconds(300))
        #expect(history.rates == [6])
        history.record(7, at: start + .seconds(1))
        history.record(8, at: start + .seconds(4))
        #expect(history.rates == [6, 7, 8, 8, 8], "a slow answer")
        history.record(9, at: start + .seconds(24))
        #expect(history.rates.suffix(20) == [Int64](repeating: 0, count: 19) + [9] && history.peak == 9, "idle")
    }

    @Test func theHistoryIsBounded() {
        var history = RateHistory()
        for second in 0..<1000 { history.record(1, at: start + .seconds(second)) }
        history.record(1, at: start + .seconds(100_000))
        #expect(history.rates.count == RateHistory.capacity)
        #expect(!history.isQuiet(for: 1))
    }

    @Test func barsAreScaledToTheHighestRateShown() {
        let unicode = Sparkline(usesUnicode: true)
        #expect(unicode.text([0, 1, 2, 3, 4, 5, 6, 7, 8], width: 9) == "▁▁▂▃▄▅▆▇█")
        #expect(unicode.text([100, 1, 2], width: 2) == "▄█")
        #expect(unicode.text([7], width: 3) == "  █" && unicode.text([], width: 2) == "  ")
        #expect(Sparkline(usesUnicode: false).text([0, 4, 8], width: 3) == "_:#")
        #expect(unicode.text([.max, .min, 0], width: 3) == "█▁▁" && unicode.text([1], width: 0).isEmpty)
    }
}

extension Key: ExpressibleByUnicodeScalarLiteral {
    public init(unicodeScalarLiteral value: Unicode.Scalar) { self = .character(Character(value)) }
}
