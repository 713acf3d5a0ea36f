import Glibc
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// A program `notify-send` that writes down its arguments.
private struct FakeNotifySend {
    private let directory: TemporaryDirectory

    init(exitStatus: Int = 0) throws {
        directory = try TemporaryDirectory("notify-send")
        // One line of output for each call.
        let script =
            "#!/bin/sh\nprintf '%s|' \"$@\" | tr '\\n' '~' >> '\(directory.file("calls"))'\n"
            + "echo >> '\(directory.file("calls"))'\nexit \(exitStatus)\n"
        try FileTree.write(script, to: directory.file("notify-send"), mode: 0o755)
    }

    var environment: [String: String] { ["PATH": "\(directory.path):/usr/bin:/bin"] }

    /// The arguments of each call, each with `|` behind it; `~` is a line break.
    var calls: [String] {
        get throws {
            guard FileTree.exists(directory.file("calls")) else { return [] }
            return try FileTree.text(directory.file("calls")).split(separator: "\n").map(String.init)
        }
    }
}

@Suite struct NotifyTests {
    private let program: FakeNotifySend

    init() throws { program = try FakeNotifySend() }

    private func daemon(_ tasks: [Int64: JSONValue]) throws -> ScriptedDaemon {
        let tasks = Tasks(tasks)
        return try ScriptedDaemon { method, params in tasks.answer(method, params) }
    }

    @Test func waitWithNotifyTellsOnceHowTheTaskEnded() async throws {
        let daemon = try daemon([7: Wire.task(7, "running")])
        async let waited = Program.run(["wait", "7", "--notify"], daemon: daemon, environment: program.environment)
        try await daemon.called("task.list")
        daemon.emit(Wire.completed(7))
        let result = try await waited
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        let body = "#7 completed: file7.iso -&gt; /d/file7.iso (1.0 KiB)"
        #expect(try program.calls == ["--app-name=xfer|--urgency=normal|--|file7.iso completed|\(body)|"])
    }

    @Test func addWithWaitAndNotifyTellsOfAllTasksTogether() async throws {
        let daemon = try daemon([7: Wire.task(7, "failed"), 8: Wire.task(8, "completed")])
        let result = try await Program.run(
            ["wait", "7", "8", "--notify"], daemon: daemon, environment: program.environment)
        #expect(result.exit == .code(1), "\(result)")
        let body = "#7 failed: file7.iso~#8 completed: file8.iso (0 B)"
        #expect(
            try program.calls == ["--app-name=xfer|--urgency=critical|--|2 tasks ended: 1 completed, 1 failed|\(body)|"]
        )
    }

    @Test func aNameReachesTheProgramWithoutShellMarkupOrControlCharacters() async throws {
        let label = JSONValue.string("-x $(reboot) <b>\u{1b}[31m\\n;'\"")
        let daemon = try daemon([7: Wire.task(7, "completed", ["label": label])])
        let result = try await Program.run(["wait", "7", "--notify"], daemon: daemon, environment: program.environment)
        #expect(result.exit == .code(0), "\(result)")
        let call = try #require(try program.calls.first)
        #expect(call.contains("|--|-x $(reboot) <b>\u{241b}[31m\\n;'\" completed|"), "\(call)")
        #expect(call.contains("#7 completed: -x $(reboot) &lt;b&gt;\u{241b}[31m\\\\n;'\" ("), "\(call)")
    }

    @Test func anExpiredTimeoutIsToldToo() async throws {
        let daemon = try daemon([7: Wire.task(7, "running")])
        let result = try await Program.run(
            ["wait", "7", "--notify", "--timeout", "50ms"], daemon: daemon, environment: program.environment)
        #expect(result.exit == .code(5), "\(result)")
        #expect(try program.calls.count == 1)
        #expect(try program.calls[0].contains("|xferctl no longer waits|time is up; the transfer continues"))
    }

    @Test(arguments: [(0, ""), (1, "finished     3 of 3, 1 failed")] as [(Int64, String)])
    func aQuietBatchPrintsOnlyFailures(failed: Int64, text: String) async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("http://h/1\n", to: directory.file("list"))
        var batch = BatchRecord()
        (batch.id, batch.total, batch.finished, batch.skipped) = (BatchID(4), 3, 3, failed)
        batch.completedAt = Timestamp(seconds: 1)
        let record = batch.wire
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "batch.add": .result(["batch": record, "ids": [1, 2, 3], "errors": []])
            case "batch.get": .result(["batch": record])
            case "task.list": .result(["tasks": [], "next_cursor": nil])
            default: .result(["subscription": 1, "last_seq": 1])
            }
        }
        let result = try await Program.run(
            ["batch", "add", "-q", "--wait", "-i", "list"], daemon: daemon, directory: directory.path)
        #expect(result.exit == .code(failed == 0 ? 0 : 1) && result.output.isEmpty, "\(result)")
        #expect(text.isEmpty ? result.errors.isEmpty : result.errors.contains(text), "\(result)")
    }

    @Test(arguments: [["batch", "add", "-i", "-"], ["batch", "show", "4"]])
    func aBatchThatIsWaitedForIsToldAsAWhole(words: [String]) async throws {
        var batch = BatchRecord()
        (batch.id, batch.total, batch.finished, batch.skipped) = (BatchID(4), 3, 3, 1)
        batch.completedAt = Timestamp(seconds: 1)
        let record = batch.wire
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "batch.add": .result(["batch": record, "ids": [1, 2, 3], "errors": []])
            case "batch.get": .result(["batch": record])
            case "task.list": .result(["tasks": [], "next_cursor": nil])
            default: .result(["subscription": 1, "last_seq": 1])
            }
        }
        let result = try await Program.run(
            words + ["--wait", "--notify"], daemon: daemon, input: "http://h/a\n", environment: program.environment)
        #expect(result.exit == .code(1) && result.errors.isEmpty, "\(result)")
        #expect(try program.calls == ["--app-name=xfer|--urgency=critical|--|batch 4 ended|3 of 3, 1 failed|"])
        let hasty = try await Program.run(words + ["--notify"], input: "http://h/a\n")
        #expect(hasty.exit == .code(2) && hasty.errors.contains("--notify needs --wait"), "\(hasty)")
    }

    @Test func addWithNotifyButWithoutWaitIsRefused() async throws {
        let result = try await Program.run(["add", "--notify", "http://host/f"])
        #expect(result.exit == .code(2), "\(result)")
        #expect(result.errors.contains("--notify needs --wait") && result.errors.contains("`xferctl notify`"))
    }

    @Test func withoutAProgramAndATerminalWaitWarnsAndNotifyRefuses() async throws {
        let daemon = try daemon([7: Wire.task(7, "completed")])
        let environment = ["PATH": "/nonexistent:."]
        let waited = try await Program.run(["wait", "7", "--notify"], daemon: daemon, environment: environment)
        #expect(waited.exit == .code(0) && waited.errors.contains("notify-send is not in PATH"), "\(waited)")
        let refused = try await Program.run(["notify"], daemon: daemon, environment: environment)
        #expect(refused.exit == .code(2) && refused.errors.contains("notify-send is not in PATH"), "\(refused)")
    }

    @Test func aFailingProgramIsReportedAndChangesNothingElse() async throws {
        let failing = try FakeNotifySend(exitStatus: 3)
        let daemon = try daemon([7: Wire.task(7, "completed")])
        let result = try await Program.run(["wait", "7", "--notify"], daemon: daemon, environment: failing.environment)
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.errors.contains("notify-send failed with exit status 3"), "\(result)")
    }

    @Test func notifyTellsOfEveryEndOnceAcrossARestart() async throws {
        let daemon = try daemon([7: Wire.task(7, "running"), 8: Wire.task(8, "running")])
        let terminal = try FakeTerminal(columns: 80, rows: 24)
        let process = try Program.start(["notify"], daemon: daemon, on: terminal, environment: program.environment)
        try await daemon.called("events.subscribe")
        daemon.emit(Wire.completed(7, seq: 12))
        try await eventually("the first is told") { try program.calls.count == 1 }
        daemon.stop()
        try daemon.start()
        try await daemon.called("events.subscribe", times: 2)
        #expect(daemon.calls(of: "events.subscribe").map { $0["since"] } == [nil, 12])
        daemon.emit(Wire.completed(7, seq: 12))
        daemon.emit(Wire.failed(8, seq: 13))
        try await eventually("the second is told") { try program.calls.count == 2 }
        process.signal(SIGINT)
        #expect(await process.exit() == .code(130))
        #expect(try program.calls.map { $0.split(separator: "|")[3] } == ["file7.iso completed", "file8.iso failed"])
        let seen = terminal.written()
        #expect(seen.contains("#7 completed: file7.iso -> /d/file7.iso (1.0 KiB)\n"), "\(seen)")
        #expect(seen.contains("`xferctl notify --since 13` continues from here"), "\(seen)")
        #expect(seen.split(separator: "\u{7}", omittingEmptySubsequences: false).count == 3, "the bell rings twice")
    }

    @Test func notifyAsksForTheTaskWithTheFiltersAndPicksStatesItself() async throws {
        let daemon = try daemon([7: Wire.task(7, "running"), 8: Wire.task(8, "running")])
        let terminal = try FakeTerminal(columns: 80, rows: 24)
        let process = try Program.start(
            ["notify", "--group", "isos", "--failed", "--since", "0", "--json"], daemon: daemon, on: terminal,
            environment: program.environment)
        try await daemon.called("events.subscribe")
        daemon.emit(Wire.completed(7, seq: 12))
        daemon.emit(Wire.failed(8, seq: 13))
        try await eventually("the failure is told") { try program.calls.count == 1 }
        process.signal(SIGINT)
        #expect(await process.exit() == .code(130))
        #expect(daemon.calls(of: "events.subscribe").first?["since"] == 0)
        let filters = daemon.calls(of: "task.list").compactMap { $0["filter"] }
        #expect(filters == [["group": "isos", "ids": 7], ["group": "isos", "ids": 8]])
        #expect(try program.calls[0].contains("|file8.iso failed|"))
        #expect(terminal.written().contains(Wire.failed(8, seq: 13).text + "\n"))
    }

    @Test(arguments: [["notify", "--state", "running"], ["notify", "--since", "-1"]])
    func notifyRefusesStatesThatAreNoEndAndNegativeNumbers(arguments: [String]) async throws {
        let result = try await Program.run(arguments)
        #expect(result.exit == .code(2) && result.errors.contains(arguments[1]), "\(result)")
    }
}

@Suite struct DesktopNoteTests {
    private func task(_ id: Int64, _ state: String) -> TaskSummary {
        TaskSummary(id: id, name: "f\(id)", state: state)
    }

    @Test func aNoteOfManyTasksCountsThemAndShowsFailuresFirst() {
        let ends = (1...9).map { task($0, $0 == 6 ? "failed" : "completed") }
        let note = DesktopNote(ends, removed: 1)
        #expect(note.summary == "10 tasks ended: 8 completed, 1 failed, 1 removed")
        let lines = note.body.split(separator: "\n")
        #expect(lines.first == "#6 failed: f6" && lines.last == "and 4 more" && lines.count == 6)
        #expect(note.isUrgent)
    }

    @Test func tasksThatEndedAlikeAreCountedOnce() {
        #expect(DesktopNote([task(1, "completed"), task(2, "completed")]).summary == "2 tasks completed")
        #expect(DesktopNote([], removed: 1).summary == "1 task removed")
    }

    @Test func aLongNameIsCut() {
        let note = DesktopNote([TaskSummary(id: 1, name: String(repeating: "n", count: 5000), state: "completed")])
        #expect(note.summary.count == 200 && note.body.count == 200)
    }
}
