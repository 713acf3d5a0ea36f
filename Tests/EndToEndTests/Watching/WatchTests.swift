import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// `xferctl watch` on a terminal of tmux, beside a real daemon.
@Suite struct WatchTests {
    /// One task of each kind: #1 completed, #2 failed, #3 and #4 running, #5 to #7 queued, #8 waiting, #9 paused.
    private struct Queue {
        let daemon: DaemonFixture
        let server: FaultServer
        let gate: Gate

        func screen(
            columns: Int = 80, rows: Int = 24, _ environment: [String: String] = [:], _ arguments: String...
        ) async throws -> TmuxScreen {
            try await TmuxScreen(
                ["\(Command.productsDirectory)/xferctl", "watch"] + arguments,
                environment: daemon.environment.merging(environment) { $1 }, columns: columns, rows: rows)
        }
    }

    private func withQueue(_ body: (Queue) async throws -> Void) async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/small", .tagged(1, length: 20_000))
        for number in 3...9 {
            server.serve("/\(number)", .tagged(UInt64(number), length: 4_000_000)).always(
                .stall(at: 1_000_000, until: gate))
        }
        defer { gate.open() }
        let settings = ["queue": ["max_active": "2", "max_active_per_host": "2"]]
        try await withDaemon(DaemonFixture.Options(settings: settings)) { daemon in
            try await daemon.complete(try await daemon.add(server.url("/small"), ["output": "readme.txt"]))
            try await daemon.fails(
                try await daemon.add(server.url("/missing"), ["output": "missing.zip"]), "http_status")
            for number in 3...7 {
                try await daemon.add(server.url("/\(number)"), ["output": .string("file-\(number).iso")])
            }
            try await daemon.add(
                server.url("/8"), ["output": "日本語.iso", "not_before": "2099-01-02T03:04:05Z"])
            let paused = try await daemon.add(server.url("/9"), ["output": "held.iso"])
            _ = try await daemon.call("task.pause", ["ids": [.integer(paused)]])
            for id in [Int64(3), 4] { try await daemon.waitForBytes(1_000_000, of: id) }
            try await body(Queue(daemon: daemon, server: server, gate: gate))
            gate.open()
        }
    }

    /// Ids of the listed tasks, from the top.
    private static func ids(_ rows: [String]) -> [Int64] {
        let titles = rows.firstIndex { $0.contains(" ID STATE") } ?? rows.count
        return rows.dropFirst(titles + 1).compactMap { row in
            let words = row.drop { $0 == ">" || $0 == " " }.split(separator: " ")
            return words.count > 1 && !row.hasPrefix("#") ? words.first.flatMap { Int64($0, radix: 10) } : nil
        }
    }

    private static let order: [Int64] = [3, 4, 5, 6, 7, 8, 9, 2, 1]

    // MARK: What is shown

    @Test func everyStateIsShownAtEveryWidthAndAfterEveryResize() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen(columns: 40, rows: 20)
            for columns in [40, 60, 80, 120, 200, 60, 40] {
                try await screen.resize(columns: columns, rows: 20)
                let states = columns < 60 ? ["run", "wait", "done"] : ["running", "waiting", "completed"]
                try await screen.shows("the queue at \(columns) columns") { rows in
                    Self.ids(rows) == Self.order && rows.last?.hasSuffix("q quit") == true
                        && (columns < 120 || rows.last?.contains("t/b top/bottom") == true)
                        && (columns > 60 || rows.last?.contains("/ filter") == false)
                        && zip(states, ["file-3.iso", "日本語.iso", "readme.txt"]).allSatisfy { state, name in
                            rows.contains { $0.contains(" \(state) ") && $0.contains(name) }
                        }
                        && rows[0].hasPrefix(columns < 80 ? "run 2/2" : "running 2/2")
                        && (columns < 60
                            || rows.contains { $0.contains("missing.zip") && $0.contains("404") })
                }
            }
            // A few rows, one row, and back.
            for size in [5, 1] { try await screen.resize(columns: 80, rows: size) }
            try await screen.resize(columns: 80, rows: 24)
            try await screen.shows("everything again") { Self.ids($0) == Self.order && $0.count == 24 }
        }
    }

    @Test func progressRatesAndLimitsAreShownAsTheDaemonReportsThem() async throws {
        try await withQueue { queue in
            _ = try await queue.daemon.call("queue.set_limits", ["max_recv_rate": 3_145_728])
            let screen = try await queue.screen()
            // Two of four million bytes each.
            try await screen.shows("the head") { rows in
                rows.count > 3 && rows[2].contains("limit 3.0 MiB/s") && rows[1].contains("25%")
                    && rows[1].contains("of 7.6 MiB")
                    && rows[0].contains("queued 3  waiting 1  paused 1  failed 1  completed 1")
            }
            queue.gate.open()
            try await screen.showsRow("completed 6")
            try await screen.showsRow("file-7.iso", "3.8 MiB at")
        }
    }

    @Test func withoutUTF8OnlyASCIIIsShown() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen(["LC_ALL": "", "LANG": "C"])
            try await screen.showsRow("waiting", "??????.iso")
            try await screen.press("o")
            try await screen.showsRow("-- #3 --")
            #expect(try await screen.text().utf8.allSatisfy { $0 < 128 })
        }
    }

    @Test func coloursFollowTheEnvironment() async throws {
        try await withQueue { queue in
            let (coloured, plain) = (try await queue.screen(), try await queue.screen(["NO_COLOR": "1"]))
            for screen in [coloured, plain] { try await screen.showsRow("> ", "3 running") }
            let styled = try await coloured.styledText()
            #expect(styled.contains("\u{1b}[7m") || styled.contains(";7m"), "the selection is in reverse")
            #expect(!(try await plain.styledText().contains("\u{1b}[")))
        }
    }

    @Test func plainPrintsLinesOnATerminal() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen([:], "--plain")
            try await eventually("it is subscribed") {
                _ = try await queue.daemon.call("task.resume", ["ids": [9]])
                _ = try await queue.daemon.call("task.pause", ["ids": [9]])
                return try await screen.text().contains("task.paused")
            }
            #expect(try await screen.value("#{alternate_on} #{cursor_flag}") == "0 1")
        }
    }

    // MARK: What keys do

    @Test func keysPauseResumeAndCancelTheSelectedTask() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen()
            try await screen.showsRow("> ", "3 running")
            try await screen.press("Down")
            try await screen.showsRow("> ", "4 running")
            try await screen.press("Space")
            try await screen.showsFooter("paused: #4")
            try await queue.daemon.wait(4, for: "paused")
            // The selection stayed with the task, whose row is another one now.
            try await screen.showsRow("> ", "4 paused", "file-4.iso")
            try await screen.press("Space")
            try await screen.showsFooter("resumed: #4")
            try await screen.press("c")
            try await screen.showsFooter("cancel #4 file-4.iso and delete its bytes? (y/n)")
            try await screen.press("n")
            try await screen.showsFooter("not cancelled: #4")
            #expect(try await queue.daemon.view(4).state != "cancelled")
            try await screen.press("c", "y")
            try await screen.showsFooter("cancelled: #4")
            try await queue.daemon.wait(4, for: "cancelled")
            try await screen.showsRow("> ", "4 cancelled")
            try await screen.press("Space")
            try await screen.showsFooter("not paused: #4 is cancelled")
        }
    }

    @Test func keysMoveTasksWithinTheQueue() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen()
            try await screen.shows("the queue") { Self.ids($0) == Self.order }
            try await screen.press("Down", "Down", "b")
            try await screen.showsFooter("moved to the bottom: #5")
            try await screen.shows("5 behind 7") { Self.ids($0) == [3, 4, 6, 7, 5, 8, 9, 2, 1] }
            try await screen.showsRow("> ", "5 queued")
            let listed = try await queue.daemon.call("task.list", ["order": "queue", "fields": []])
            #expect(listed["tasks"]?.arrayValue?.compactMap { $0["id"]?.integerValue } == [6, 7, 5])
            try await screen.press("k", "t")
            try await screen.showsFooter("moved to the top: #7")
            try await screen.shows("7 before 6") { Self.ids($0) == [3, 4, 7, 6, 5, 8, 9, 2, 1] }
            try await screen.press("End", "t")
            try await screen.showsFooter("not moved")
        }
    }

    @Test func typedRatesLimitATaskAndTheQueue() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen()
            try await screen.showsRow("> ", "3 running")
            try await screen.press("l")
            try await screen.type("64Kx")
            try await screen.press("Enter")
            try await screen.showsFooter("expected a rate such as 500K or 2Mi, found \"64Kx\"")
            try await screen.press("BSpace", "i", "Enter")
            try await screen.showsFooter("limit of #3: 64 KiB/s")
            #expect(try await queue.daemon.task(3)["max_recv_rate"] == 65_536)
            try await screen.press("L")
            try await screen.type("2Mi")
            try await screen.press("Enter")
            try await screen.showsFooter("limit of all transfers: 2.0 MiB/s")
            try await screen.shows("the limit in the head") { $0[2].contains("limit 2.0 MiB/s") }
            let limits = try await queue.daemon.call("queue.stats")["limits"]
            #expect(limits?["max_recv_rate"] == 2_097_152)
        }
    }

    @Test func aFailedTaskIsTriedAgain() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen()
            try await screen.shows("the queue") { Self.ids($0) == Self.order }
            try await screen.press("End", "Up")
            try await screen.showsRow("> ", "2 failed", "404")
            queue.server.serve("/missing", .tagged(2, length: 1000))
            try await screen.press("r")
            try await screen.showsFooter("retried: #2")
            try await screen.press("t")
            try await screen.showsRow("> ", "2 queued")
            queue.gate.open()
            try await screen.showsRow("> ", "2 completed")
        }
    }

    @Test func theFilterAndTheDetailsFollowTheKeys() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen()
            try await screen.shows("the queue") { Self.ids($0) == Self.order }
            try await screen.press("/")
            try await screen.type("file queued")
            try await screen.shows("what matches") { Self.ids($0) == [5, 6, 7] }
            try await screen.press("Enter")
            try await screen.showsRow("STATE", "filter: file queued")
            try await screen.press("Escape")
            try await screen.shows("everything") { Self.ids($0) == Self.order }
            try await screen.press("/")
            try await screen.type("日本")
            try await screen.press("Enter")
            try await screen.showsRow("> ", "8 waiting", "for its time in")
            try await screen.press("o")
            try await screen.showsRow("── #8 ──")
            try await screen.showsRow("method", "GET")
            try await screen.press("PageDown", "PageDown", "PageDown", "PageDown")
            try await screen.showsRow("created_at")
            try await screen.resize(columns: 140, rows: 24)
            try await screen.showsRow("8 waiting", "│")
            try await screen.press("Escape")
            try await screen.shows("no details") { rows in !rows.contains { $0.contains("created_at") } }
            try await screen.press("?")
            try await screen.showsRow("Space", "pause the selected task, or resume it")
            try await screen.press("Escape")
            try await screen.showsRow("> ", "8 waiting")
        }
    }

    // MARK: Coming and going

    @Test func manyQueuedTasksAreReadPageByPage() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.pause")
            for _ in 0..<3 {
                let tasks = (0..<1000).map { _ in JSONValue.object(["url": "http://127.0.0.1:9/x"]) }
                _ = try await daemon.call("task.add", ["tasks": .array(tasks)])
            }
            try await daemon.add("http://127.0.0.1:9/last", ["not_before": "2099-01-02T03:04:05Z", "output": "last"])
            let screen = try await TmuxScreen(
                ["\(Command.productsDirectory)/xferctl", "watch"], environment: daemon.environment)
            try await screen.showsRow("PAUSED", "queued 3000")
            // The figures come before the list, and End goes to the end of what is listed.
            try await eventually("End leads to the last task") {
                try await screen.press("End")
                return try await screen.rows().contains { $0.contains("> ") && $0.contains("3001 waiting") }
            }
            // An End that came before the waiting task was listed has led to the next page.
            try await screen.showsRow("00 more queued")
            try await screen.press("Home")
            for _ in 0..<10 { try await screen.press("PageDown") }
            try await screen.showsRow("> ", "queued")
            try await screen.press("/")
            try await screen.type("#2999")
            try await screen.shows("the one that is sought") { Self.ids($0) == [2999] }
            try await screen.press("Enter", "t")
            try await screen.showsFooter("moved to the top: #2999")
            try await screen.press("Escape", "Home")
            try await screen.shows("it at the top") { Self.ids($0).first == 2999 }
        }
    }

    @Test func theViewOutlivesARestartOfTheDaemon() async throws {
        try await withQueue { queue in
            let screen = try await queue.screen()
            try await screen.shows("the queue") { Self.ids($0) == Self.order }
            await queue.daemon.kill9()
            try await screen.showsFooter("the daemon is gone; reconnecting")
            try await screen.press("Down")
            try await screen.showsRow("> ", "4 ")
            try await queue.daemon.start()
            try await screen.shows("the queue again") {
                Self.ids($0) == Self.order && $0.last?.hasSuffix("q quit") == true
            }
            queue.gate.open()
            try await screen.showsRow("completed 6")
        }
    }

    @Test(arguments: ["q", "SIGINT", "SIGTERM", "SIGHUP"])
    func leavingRestoresTheTerminal(way: String) async throws {
        try await withQueue { queue in
            let script = """
                trap : INT; before=$(stty -g); echo 'the shell'; "$0" watch; echo "ended $?"
                [ "$before" = "$(stty -g)" ] && echo 'as before'; exec sleep 1000
                """
            let screen = try await TmuxScreen(
                ["sh", "-c", script, "\(Command.productsDirectory)/xferctl"], environment: queue.daemon.environment)
            try await screen.showsRow("> ", "3 running")
            #expect(try await screen.value("#{alternate_on} #{cursor_flag}") == "1 0")
            switch way {
            case "q": try await screen.press("q")
            case "SIGINT": try await screen.press("C-c")
            default:
                let shell = try #require(Int32(try await screen.value("#{pane_pid}"), radix: 10))
                let children = try FileTree.text("/proc/\(shell)/task/\(shell)/children")
                let child = try #require(children.split(separator: " ").first.flatMap { Int32($0, radix: 10) })
                kill(child, way == "SIGTERM" ? SIGTERM : SIGHUP)
            }
            try await screen.shows("the shell's lines") { $0.starts(with: ["the shell", "ended 0", "as before"]) }
            #expect(try await screen.value("#{alternate_on} #{cursor_flag}") == "0 1")
        }
    }

    @Test func aSuspendedViewGivesTheTerminalBackUntilItGoesOn() async throws {
        try await withQueue { queue in
            let bash = try #require(Command.find("bash"))
            let environment = queue.daemon.environment.merging(["PS1": "$ "]) { $1 }
            let screen = try await TmuxScreen([bash, "--norc", "--noprofile", "-i"], environment: environment)
            try await screen.type("\(Command.productsDirectory)/xferctl watch")
            try await screen.press("Enter")
            try await screen.showsRow("> ", "3 running")
            try await screen.press("C-z")
            try await screen.showsRow("Stopped")
            #expect(try await screen.value("#{alternate_on} #{cursor_flag}") == "0 1")
            try await screen.type("echo typed")
            try await screen.press("Enter")
            try await screen.shows("the shell's echo") { $0.contains("typed") }
            try await screen.resize(columns: 100, rows: 30)
            try await screen.type("fg")
            try await screen.press("Enter")
            try await screen.shows("the view") { Self.ids($0) == Self.order && $0.count == 30 }
            try await screen.press("j")
            try await screen.showsRow("> ", "4 running")
            try await screen.press("q")
            try await screen.shows("the prompt") { $0.contains("typed") }
            #expect(try await screen.value("#{alternate_on} #{cursor_flag}") == "0 1")
        }
    }
}
