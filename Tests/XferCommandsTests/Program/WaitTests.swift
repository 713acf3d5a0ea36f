import Glibc
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// A daemon whose tasks a test moves by hand.
final class Tasks: Sendable {
    private let states: NIOLockedValueBox<[Int64: JSONValue]>
    let store = NIOLockedValueBox("one")

    init(_ tasks: [Int64: JSONValue]) { states = NIOLockedValueBox(tasks) }

    subscript(id: Int64) -> JSONValue? {
        get { states.withLockedValue { $0[id] } }
        set { states.withLockedValue { $0[id] = newValue } }
    }

    func answer(_ method: String, _ params: JSONValue) -> ScriptedDaemon.Answer {
        switch method {
        case "task.add": return .result(["task": self[7] ?? .null])
        case "daemon.status":
            var status = DaemonStatus.Result()
            status.storeID = store.withLockedValue { $0 }
            return .result(status.wire)
        case "events.subscribe": return .result(["subscription": 1, "last_seq": 1])
        case "task.list":
            let asked = params["filter"]?["ids"]
            let ids = asked?.arrayValue?.compactMap(\.integerValue) ?? asked?.integerValue.map { [$0] }
            let found = states.withLockedValue { states in states.sorted { $0.key < $1.key } }
            let tasks = found.filter { ids?.contains($0.key) ?? true }.map(\.value)
            return .result(["tasks": .array(tasks), "next_cursor": nil])
        case "queue.stats":
            var counts = StateCounts()
            counts.running = Int64(states.withLockedValue { $0.count })
            var stats = QueueStats.Result()
            stats.counts = counts
            return .result(stats.wire)
        case "task.wait": return .result(["tasks": .array(self[7].map { [$0] } ?? []), "timed_out": false])
        default: return .failure(RPCFailure(.methodNotFound, "no method \(method)"))
        }
    }
}

@Suite struct WaitTests {
    private func daemon(_ tasks: Tasks) throws -> ScriptedDaemon {
        try ScriptedDaemon { method, params in tasks.answer(method, params) }
    }

    /// Runs a command beside what the test does to the daemon.
    private func running(
        _ arguments: [String], _ daemon: ScriptedDaemon, _ act: () async throws -> Void
    ) async throws -> Command.Result {
        async let result = Program.run(arguments, daemon: daemon)
        try await act()
        return try await result
    }

    @Test func addWithWaitEndsWithTheTaskAndNamesItsFile() async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "running")]))
        let result = try await running(["add", "--wait", "http://host/file7.iso"], daemon) {
            try await daemon.called("task.list")
            daemon.emit(Wire.progress(7, received: 512, total: 1024))
            daemon.emit(Wire.completed(7))
        }
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.output == "#7 running: file7.iso\n#7 completed: file7.iso -> /d/file7.iso (1.0 KiB)\n")
    }

    @Test func refusedLinesOfAListAreInTheDocumentOfItsEnd() async throws {
        let tasks = Tasks([7: Wire.task(7, "completed")])
        let daemon = try ScriptedDaemon { method, params in
            method == "task.add" ? .result(["ids": [7], "existing": []]) : tasks.answer(method, params)
        }
        let result = try await Program.run(
            ["add", "--wait", "--json", "-i", "-"], daemon: daemon,
            input: "http://host/file7.iso\nhttp://host/other\n  no option\n")
        #expect(result.exit == .code(3), "\(result)")
        let document = try JSONValue(parsing: result.output)
        #expect(document["errors"]?.arrayValue?.map { $0["line"] } == [3], "\(result)")
    }

    /// `task.warning` came before the subscription, and the list does not show it of a running task.
    @Test func theWarningOfAnEndIsPrintedThoughItsOwnEventWasMissed() async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "running")]))
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("task.list")
            daemon.emit(
                Wire.event(
                    "task.completed", 7, seq: 9,
                    [
                        "terminal": true, "state": "completed", "path": "/d/file7.iso", "size": 1024,
                        "warning": "the server sent a web page",
                    ]))
        }
        #expect(result.exit == .code(0) && result.output.contains("Warning: the server sent a web page."), "\(result)")
    }

    @Test func aTokenThatMayNotLookIsToldThatTheTransferGoesOn() async throws {
        let tasks = Tasks([7: Wire.task(7, "queued")])
        let daemon = try ScriptedDaemon { method, params in
            guard method != "daemon.status" else {
                return .failure(RPCFailure(.permissionDenied, "it needs another scope"))
            }
            return tasks.answer(method, params)
        }
        let result = try await Program.run(["add", "--wait", "http://host/file7.iso"], daemon: daemon)
        #expect(result.exit == .code(3), "\(result)")
        #expect(result.errors.contains("continues, but cannot be waited for: it needs another scope"), "\(result)")
    }

    @Test func oneFailureAmongSeveralTasksExitsWith1AndItsReason() async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "running"), 8: Wire.task(8, "queued")]))
        let result = try await running(["wait", "7", "8"], daemon) {
            try await daemon.called("task.list")
            daemon.emit(Wire.failed(8, seq: 2))
            daemon.emit(Wire.completed(7, seq: 3))
        }
        #expect(result.exit == .code(1))
        #expect(
            result.output.contains("#8 failed: file8.iso: the server answered 404 (http_status)\n    Check the URL"))
        #expect(result.output.contains("#7 completed"))
    }

    @Test(arguments: [[], ["-q"]]) func theAdviceOnOneCauseIsPrintedOnce(options: [String]) async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "running"), 8: Wire.task(8, "running")]))
        let result = try await running(["wait", "7", "8"] + options, daemon) {
            try await daemon.called("task.list")
            daemon.emit(Wire.failed(7, seq: 2))
            daemon.emit(Wire.failed(8, seq: 3))
        }
        let text = result.output + result.errors
        #expect(text.contains("#7 failed") && text.contains("#8 failed"), "\(result)")
        #expect(text.ranges(of: "Check the URL").count == 1, "\(result)")
    }

    @Test func aTaskThatEndedBeforeIsReportedAtOnce() async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "cancelled")]))
        let result = try await Program.run(["wait", "7"], daemon: daemon)
        #expect(result.exit == .code(1) && result.output == "#7 cancelled: file7.iso\n", "\(result)")
    }

    @Test func waitingForAnUnknownTaskIsRefused() async throws {
        let result = try await Program.run(["wait", "7"], daemon: try daemon(Tasks([:])))
        #expect(result.exit == .code(3) && result.errors == "xferctl: there is no task 7\n", "\(result)")
    }

    /// A script adds the tasks of a group and then waits: one may fail in between.
    @Test func waitingForAGroupCountsTasksThatFailedBefore() async throws {
        for (option, isCounted) in [("--group", true), ("--label", false)] {
            let daemon = try daemon(Tasks([7: Wire.task(7, "failed")]))
            let result = try await Program.run(["wait", option, "x"], daemon: daemon)
            #expect(result.exit == .code(1) && result.output.contains("#7 failed: file7.iso"), "\(result)")
            let states = daemon.calls(of: "task.list").flatMap { $0["filter"]?["state"]?.arrayValue ?? [] }
            #expect(states.contains("failed") == isCounted, "\(option): \(states)")
        }
    }

    @Test func waitingInAPausedQueueSaysHowItGoesOn() async throws {
        var stats = QueueStats.Result()
        stats.paused = true
        let answer = stats.wire
        let tasks = Tasks([7: Wire.task(7, "queued")])
        let daemon = try ScriptedDaemon { method, params in
            method == "queue.stats" ? .result(answer) : tasks.answer(method, params)
        }
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("queue.stats")
            daemon.emit(Wire.completed(7))
        }
        #expect(result.exit == .code(0), "\(result)")
        #expect(
            result.errors == "xferctl: the queue is paused, and nothing starts before `xferctl queue resume`\n",
            "\(result)")
    }

    @Test func anExpiredTimeoutExitsWith5AndLeavesTheTransfer() async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "running")]))
        let result = try await Program.run(["wait", "7", "--timeout", "50ms"], daemon: daemon)
        #expect(result.exit == .code(5) && result.errors.contains("the transfer continues"), "\(result)")
    }

    @Test func waitingOutlivesARestartOfTheDaemon() async throws {
        let tasks = Tasks([7: Wire.task(7, "running")])
        let daemon = try daemon(tasks)
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("task.list")
            daemon.stop()
            try daemon.start()
            try await daemon.called("task.list", times: 2)
            daemon.emit(Wire.completed(7))
        }
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.errors.contains("the daemon is gone") && result.errors.contains("the daemon is back"))
    }

    @Test func anotherDatabaseBehindTheSameSocketIsNotTakenForTheFirst() async throws {
        let tasks = Tasks([7: Wire.task(7, "running")])
        let daemon = try daemon(tasks)
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("task.list")
            daemon.stop()
            tasks.store.withLockedValue { $0 = "two" }
            try daemon.start()
        }
        #expect(result.exit == .code(3) && result.errors.contains("another database"), "\(result)")
    }

    @Test func aTaskThatEndedDuringARestartIsFoundInTheListing() async throws {
        let tasks = Tasks([7: Wire.task(7, "running")])
        let daemon = try daemon(tasks)
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("task.list")
            daemon.stop()
            tasks[7] = Wire.task(7, "completed", ["final_path": "/d/x"])
            try daemon.start()
        }
        #expect(result.exit == .code(0) && result.output.contains("#7 completed: x -> /d/x"), "\(result)")
    }

    @Test func aTaskRemovedMeanwhileEndsTheWaitWith1() async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "failed"), 8: Wire.task(8, "paused")]))
        let result = try await running(["wait", "7", "8"], daemon) {
            try await daemon.called("task.list")
            daemon.emit(Wire.event("task.removed", 8, seq: 3))
        }
        #expect(result.exit == .code(1) && result.output.contains("#8 was removed"), "\(result)")
    }

    @Test func anEventOverflowMakesWaitListTheTasksAgain() async throws {
        let tasks = Tasks([7: Wire.task(7, "running")])
        let daemon = try daemon(tasks)
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("task.list")
            tasks[7] = Wire.task(7, "completed")
            daemon.emit(["time": "2026-01-02T03:04:05Z", "type": "events.overflow", "last_seq": 1])
        }
        #expect(result.exit == .code(0), "\(result)")
        #expect(daemon.calls(of: "events.subscribe").count == 2)
    }

    @Test func jsonOptionPrintsOnlyTheAnswerOfTaskWait() async throws {
        let tasks = Tasks([7: Wire.task(7, "running")])
        let daemon = try daemon(tasks)
        let result = try await running(["wait", "7", "--json"], daemon) {
            try await daemon.called("task.list")
            tasks[7] = Wire.task(7, "completed")
            daemon.emit(Wire.completed(7))
        }
        #expect(result.exit == .code(0), "\(result)")
        let answer: JSONValue = ["tasks": [Wire.task(7, "completed")], "timed_out": false]
        #expect(result.output == answer.text + "\n")
    }

    @Test func aWaitThatTheListingAndAnEventReportIsPrintedOnce() async throws {
        let wait: JSONValue = ["reason": "retry", "until": "2026-01-02T03:04:08.678Z"]
        let daemon = try daemon(Tasks([7: Wire.task(7, "waiting", ["wait": wait])]))
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("task.list")
            daemon.emit(Wire.event("task.waiting", 7, seq: 2, ["wait": wait]))
            let next: JSONValue = ["reason": "retry", "until": "2026-01-02T03:04:18.678Z"]
            daemon.emit(Wire.event("task.waiting", 7, seq: 3, ["wait": next]))
            daemon.emit(Wire.completed(7, seq: 4))
        }
        #expect(result.output.split(separator: "\n").count { $0.contains("#7 waiting") } == 2, "\(result)")
    }

    @Test(arguments: [[], ["-q"]]) func theLastLineOfADownloadHasTheFinalNameAndTheWarning(quiet: [String]) async throws
    {
        let daemon = try daemon(Tasks([7: Wire.task(7, "running")]))
        let result = try await running(["wait", "7"] + quiet, daemon) {
            try await daemon.called("task.list")
            daemon.emit(
                Wire.event(
                    "task.completed", 7, seq: 9,
                    [
                        "terminal": true, "state": "completed", "path": "/d/login", "size": 1024,
                        "warning": "the server sent a web page",
                    ]))
        }
        let lines = (quiet.isEmpty ? result.output : result.errors).split(separator: "\n").suffix(2)
        #expect(
            lines == ["#7 completed: login -> /d/login (1.0 KiB)", "    Warning: the server sent a web page."],
            "\(result)")
    }

    @Test func waitingTasksPrintTheirReasonIfPiped() async throws {
        let daemon = try daemon(Tasks([7: Wire.task(7, "running")]))
        let result = try await running(["wait", "7"], daemon) {
            try await daemon.called("task.list")
            daemon.emit(
                Wire.event(
                    "task.waiting", 7, seq: 2,
                    [
                        "wait": ["reason": "retry", "until": "2026-01-02T03:04:08.678Z"],
                        "error": ["reason": "connection_lost", "message": "reset", "is_retriable": true],
                    ]))
            daemon.emit(Wire.completed(7))
        }
        #expect(result.output.contains("#7 waiting next attempt in 3s after connection lost: file7.iso\n"), "\(result)")
    }
}

@Suite struct TerminalSessionTests {
    @Test func aTerminalShowsABarAndCtrlCLeavesTheTransferRunning() async throws {
        let tasks = Tasks([7: Wire.task(7, "running")])
        let daemon = try ScriptedDaemon { method, params in tasks.answer(method, params) }
        let terminal = try FakeTerminal(columns: 80, rows: 24)
        let process = try Program.start(["wait", "7"], daemon: daemon, on: terminal)
        try await daemon.called("task.list")
        daemon.emit(Wire.progress(7, received: 512, total: 1024))
        var seen = ""
        try await eventually("the bar shows half") {
            seen += terminal.written()
            return seen.contains("50%")
        }
        process.signal(SIGINT)
        let exit = await process.exit()
        seen += terminal.written()
        #expect(exit == .code(130))
        #expect(seen.contains("the transfer continues in the daemon") && seen.contains("xferctl cancel 7"))
        #expect(seen.hasPrefix("\u{1b}[?25l"), "the cursor is hidden")
        #expect(seen.contains("\u{1b}[?25h"), "the cursor is shown again")
        #expect(daemon.calls.allSatisfy { $0.method != "task.cancel" })
    }

    @Test func watchFillsTheScreenFollowsEventsAndQuitsOnQ() async throws {
        let tasks = Tasks([7: Wire.task(7, "running"), 8: Wire.task(8, "running")])
        let daemon = try ScriptedDaemon { method, params in tasks.answer(method, params) }
        let terminal = try FakeTerminal(columns: 80, rows: 24)
        let process = try Program.start(["watch"], daemon: daemon, on: terminal)
        try await daemon.called("queue.stats")
        var seen = ""
        try await eventually("the view follows") {
            // What comes before the tasks are listed has no row to change.
            daemon.emit(Wire.progress(8, received: 256, total: 1024))
            seen += terminal.written()
            return seen.contains("running 2") && seen.contains("25%")
        }
        terminal.type("q")
        #expect(await process.exit() == .code(0))
        seen += terminal.written()
        #expect(seen.contains("\u{1b}[?1049h") && seen.hasSuffix("\u{1b}[?25h\u{1b}[?1049l"))
    }

    @Test func eventsFollowLiveAcrossARestartWithoutAGap() async throws {
        let tasks = Tasks([:])
        let daemon = try ScriptedDaemon { method, params in tasks.answer(method, params) }
        let terminal = try FakeTerminal(columns: 80, rows: 24)
        let process = try Program.start(["events", "--json"], daemon: daemon, on: terminal)
        try await daemon.called("events.subscribe")
        daemon.emit(Wire.completed(7, seq: 12))
        var seen = ""
        try await eventually("the event is printed") {
            seen += terminal.written()
            return seen.contains(#""seq":12"#)
        }
        daemon.stop()
        try daemon.start()
        try await daemon.called("events.subscribe", times: 2)
        #expect(daemon.calls(of: "events.subscribe").map { $0["since"] } == [nil, 12])
        process.signal(SIGINT)
        #expect(await process.exit() == .code(130))
    }

    @Test func anInterruptedFetchOfAListEndsItsTaskAndAddsNothing() async throws {
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "queue.stats": .result(QueueStats.Result().wire)
            case "task.add": .result(["task": Wire.task(6, "queued")])
            case "task.wait": .silence
            case "task.cancel", "task.remove": .result(["changed_count": 1, "unchanged_count": 0])
            default: .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
        let terminal = try FakeTerminal(columns: 80, rows: 24)
        let process = try Program.start(["add", "--checksums", "http://h/S"], daemon: daemon, on: terminal)
        try await eventually("the list is waited for") { !daemon.calls(of: "task.wait").isEmpty }
        process.signal(SIGINT)
        #expect(await process.exit() == .code(130))
        #expect(daemon.calls(of: "task.cancel") == [["ids": [6]]] && daemon.calls(of: "task.remove").count == 1)
        #expect(daemon.calls(of: "task.add").count == 1)
        let seen = terminal.written()
        #expect(seen.contains("#6 is cancelled") && seen.contains("no file was added"), "\(seen)")
    }
}
