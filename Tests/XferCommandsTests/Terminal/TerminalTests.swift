import Glibc
import Testing

@testable import XferCommands

@Suite struct TerminalTests {
    @Test func aTerminalHasColoursUnlessNOCOLORIsSet() throws {
        let fake = try FakeTerminal()
        #expect(fake.terminal(["TERM": "xterm"]).usesColour)
        #expect(!fake.terminal(["TERM": "xterm", "NO_COLOR": "1"]).usesColour)
        #expect(fake.terminal(["TERM": "xterm", "NO_COLOR": ""]).usesColour)
        #expect(!fake.terminal(["TERM": "dumb"]).isInteractive)
    }

    @Test func aPipeIsNotATerminal() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let terminal = Terminal(Output(descriptor: ends[1]), environment: { $0 == "TERM" ? "xterm" : nil })
        #expect(!terminal.isInteractive && !terminal.usesColour)
        #expect(terminal.size == Terminal.Size(columns: 80, rows: 24))
    }

    @Test func theTerminalSizeIsReadAtEachCall() throws {
        let fake = try FakeTerminal(columns: 100, rows: 30)
        #expect(fake.terminal().size == Terminal.Size(columns: 100, rows: 30))
        fake.resize(columns: 50, rows: 20)
        #expect(fake.terminal().size == Terminal.Size(columns: 50, rows: 20))
    }

    @Test(arguments: [("LANG", "de_DE.UTF-8", true), ("LC_ALL", "C", false), ("LC_CTYPE", "C.utf8", true)])
    func blockCharactersNeedAUTF8Locale(name: String, value: String, expected: Bool) throws {
        #expect(try FakeTerminal().terminal(["TERM": "xterm", name: value]).usesUnicode == expected)
    }
}

@Suite struct LiveRegionTests {
    @Test func theRegionIsRedrawnInPlaceAndFinishedLinesScrollAbove() throws {
        let fake = try FakeTerminal()
        var region = LiveRegion(fake.terminal())
        region.show([.init("a 1%"), .init("b 1%")])
        region.show([.init("a 9%")], finished: [.init("b done")])
        region.finish()
        #expect(
            fake.written()
                == "\u{1b}[?25la 1%\u{1b}[K\nb 1%\u{1b}[K\u{1b}[J"
                + "\r\u{1b}[1Ab done\u{1b}[K\na 9%\u{1b}[K\u{1b}[J"
                + "\n\u{1b}[?25h")
    }

    @Test func theRegionFindsItsTopAfterTheTerminalBecameNarrower() throws {
        let fake = try FakeTerminal(columns: 40)
        var region = LiveRegion(fake.terminal())
        region.show([.init(String(repeating: "x", count: 40)), .init("short")])
        fake.resize(columns: 20, rows: 10)
        _ = fake.written()
        region.show([.init("now")])
        // Two rows of the wrapped first line and one of the second: the top is two rows up.
        #expect(fake.written() == "\r\u{1b}[2Anow\u{1b}[K\u{1b}[J")
    }

    @Test func theRegionNeverGrowsTallerThanTheScreen() throws {
        let fake = try FakeTerminal(columns: 40, rows: 5)
        var region = LiveRegion(fake.terminal())
        region.show((0..<20).map { .init("task \($0)") })
        #expect(fake.written().filter { $0 == "\n" }.count == 3)
    }

    @Test func finishingTwiceShowsTheCursorOnce() throws {
        let fake = try FakeTerminal()
        var region = LiveRegion(fake.terminal())
        region.finish()
        region.show([.init("x")])
        _ = fake.written()
        region.clear()
        region.finish()
        #expect(fake.written() == "\r\u{1b}[J\u{1b}[?25h")
    }
}

@Suite struct FullScreenTests {
    @Test func onlyRowsThatChangedAreDrawnAgain() throws {
        let fake = try FakeTerminal(columns: 10, rows: 3)
        var screen = FullScreen(terminal: fake.terminal())
        screen.enter()
        screen.show([.init("a"), .init("b"), .init("1234567890"), .init("below")])
        #expect(fake.written().hasSuffix("\u{1b}[1;1Ha\u{1b}[K\u{1b}[2;1Hb\u{1b}[K\u{1b}[3;1H1234567890"))
        screen.show([.init("a"), .init("B"), .init("1234567890")])
        #expect(fake.written() == "\u{1b}[2;1HB\u{1b}[K")
        screen.show([.init("a"), .init("B"), .init("1234567890")])
        #expect(fake.written() == "")
    }

    @Test func anotherSizeDrawsEverything() throws {
        let fake = try FakeTerminal(columns: 10, rows: 2)
        var screen = FullScreen(terminal: fake.terminal())
        screen.show([.init("a"), .init("b")])
        _ = fake.written()
        fake.resize(columns: 9, rows: 2)
        screen.show([.init("a"), .init("b")])
        #expect(fake.written() == "\u{1b}[H\u{1b}[2J\u{1b}[1;1Ha\u{1b}[K\u{1b}[2;1Hb\u{1b}[K")
    }

    @Test func leavingRestoresCursorWrappingAndScreen() throws {
        let fake = try FakeTerminal()
        var screen = FullScreen(terminal: fake.terminal())
        screen.enter()
        screen.leave()
        #expect(fake.written() == "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
    }
}

@Suite struct PasswordTests {
    @Test func aTypedPasswordIsNotEchoed() async throws {
        let fake = try FakeTerminal()
        fake.type("s3crez\u{7f}t\n")
        #expect(PasswordPrompt.readPassword("Password: ", terminalPath: fake.path) == .entered("s3cret"))
        let shown = fake.written()
        #expect(shown.contains("Password: "))
        var settings = termios()
        tcgetattr(fake.device, &settings)
        #expect(settings.c_lflag & tcflag_t(ECHO) != 0, "echo is on again")
    }

    @Test func withoutATerminalNoPasswordIsAsked() {
        #expect(PasswordPrompt.readPassword("Password: ", terminalPath: "/dev/null") == .unavailable)
    }

    @Test func keysEditTheTypedLine() {
        func enter(_ keys: String) -> PasswordPrompt.Outcome? {
            var line = PasswordLine()
            var outcome: PasswordPrompt.Outcome?
            for key in keys.utf8 where outcome == nil { outcome = line.onKey(key) }
            return outcome
        }
        #expect(enter("ab\u{15}cd\n") == .entered("cd"))
        #expect(enter("aü\u{7f}\r") == .entered("a"))
        #expect(enter("a\u{3}") == .interrupted)
        #expect(enter("abc") == nil)
    }
}
