import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// The table of exit statuses in the guide, verb by verb: 0 for what was done and for what needed nothing, 3 for ids and
/// names that name nothing, 2 for wrong command lines.
@Suite struct ExitStatusTests {
    /// Beside a daemon whose only task is #1, which has completed, and whose only group is `isos`.
    static let rows: [(line: String, status: Int32, text: String)] = [
        ("list", 0, "completed"), ("list --group nope", 0, "no task matches"), ("list --sort colour", 2, "--sort"),
        ("show 1", 0, "completed"), ("show --group nope", 0, "nothing to show"), ("show 99", 3, "no task 99"),
        ("wait 1", 0, "completed"), ("wait --group nope", 0, "nothing to wait for"), ("wait 99", 3, "no task 99"),
        ("pause 1", 0, "unchanged: #1 is completed"), ("pause --group nope", 0, "nothing paused"),
        ("pause --all", 0, "1 task matches (1 completed)"), ("pause 99", 3, "no task 99"),
        ("pause 1 99", 3, "unchanged"),
        ("resume 1", 0, "unchanged"), ("resume --host nope", 0, "nothing resumed"), ("resume 99", 3, "no task 99"),
        ("cancel 1", 0, "unchanged"), ("cancel --label nope", 0, "nothing cancelled"), ("cancel 99", 3, "no task 99"),
        ("retry 1", 0, "unchanged"), ("retry --failed", 0, "nothing retried"), ("retry 99", 3, "no task 99"),
        ("commit 1", 0, "unchanged"), ("commit --group nope", 0, "nothing committed"), ("commit 99", 3, "no task 99"),
        ("remove --failed", 0, "nothing removed: no task matches --state failed"), ("remove 99", 3, "no task 99"),
        ("remove --files --all", 2, "--yes"),
        ("move 1 --top", 0, "unchanged"), ("move --group nope --top", 0, "nothing moved"),
        ("move 99 --top", 3, "no task 99"), ("move 1", 2, "--top"),
        ("update --group nope --priority high", 0, "nothing updated"), ("update 1 --priority high", 3, "completed"),
        ("update 99 --priority high", 3, "no task 99"), ("update 1", 2, "nothing to change"),
        ("set-source 99 http://127.0.0.1:9/", 3, "no task 99"), ("set-source 1 nonsense", 3, "url: "),
        ("cat 99", 3, "no task 99"), ("result 99", 3, "no task 99"), ("result 1", 3, "no stored response"),
        ("queue", 0, "open"), ("queue pause", 0, "paused"), ("queue resume", 0, "open"), ("queue fly", 2, "fly"),
        ("limit", 0, "max active"), ("limit --max-active 10001", 3, "from 1 to 10000"),
        ("limit --recv fast", 2, "expected bytes per second"),
        ("batch show 99", 3, "no batch 99"), ("batch show x", 2, "expected a batch's id"),
        ("batch add -i /nonexistent", 2, "/nonexistent"),
        ("group", 0, "isos"), ("group show isos", 0, "isos"), ("group show isoz", 3, "did you mean isos?"),
        ("group pause isoz", 3, "--create"), ("group resume isos", 0, "nothing resumed"),
        ("group resume isoz", 3, "no group"), ("group remove isoz", 3, "no group"), ("group set isos", 2, "--recv"),
        ("group remove isos", 0, "removed isos"),
        ("slot show s", 0, "nothing is in s"), ("slot detach s", 0, "nothing is in s"),
        ("slot cancel s", 0, "nothing is in s"),
        ("failed-url remove http://127.0.0.1:9/", 0, "nothing removed"), ("failed-url remove 99", 3, "no entry 99"),
        ("failed-url clear", 0, "nothing removed"),
        ("cache", 0, "responses"), ("cache show 99", 3, "no entry 99"), ("cache remove 99", 3, "no entry 99"),
        ("cache remove http://127.0.0.1:9/", 0, "nothing removed"), ("cache clear", 0, "nothing removed"),
        ("cache trim", 0, "nothing removed"), ("cache trim --max-age soon", 2, "expected a duration"),
        ("policy", 0, "default"), ("policy show nope", 3, "no trust policy"),
        ("policy remove nope", 3, "no trust policy"),
        ("profile show nope", 3, "no profile"), ("profile remove nope", 3, "no profile"), ("hook", 0, ""),
        ("webhook", 0, ""), ("webhook test nope", 3, "no webhook"), ("token", 0, ""),
        ("token revoke nope", 3, "no token"),
        ("token add t --scope all", 2, "metrics, read"), ("network", 0, ""), ("events --no-follow", 0, "task.added"),
        ("events --since x", 2, "of an event"), ("status", 0, "process"), ("rpc daemon.status", 0, "store_id"),
        ("rpc nope", 3, "nope"), ("rpc task.get {", 2, "JSON"), ("completions bash", 0, "xferctl"),
        ("man", 0, "XFERCTL"),
        ("help fly", 2, "fly"), ("help pause", 0, "USAGE"), ("fly", 2, "unknown command"),
        ("add http://127.0.0.1:9/ --paused", 0, "#2 paused"), ("add nonsense", 2, "\"nonsense\" is no URL"),
        ("add", 2, "-i FILE"),
        ("shutdown", 0, "stops"),
    ]

    @Test func everyVerbKeepsToTheTableOfExitStatuses() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(300, length: 1000))
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/f"))
            try await daemon.complete(id)
            _ = try await daemon.ctl("group", "set", "isos", "--max-active", "2")
            for row in Self.rows {
                let words = row.line.split(separator: " ").map(String.init)
                let result = try await Command.run(
                    "\(try Command.productsDirectory)/xferctl", words, environment: daemon.environment)
                #expect(result.exit == .code(row.status), "\(row.line): \(result)")
                #expect((result.output + result.errors).contains(row.text), "\(row.line): \(result)")
                #expect(row.status != 0 || result.errors.isEmpty || row.line.contains("nope"), "\(row.line): \(result)")
                #expect(row.status == 0 || result.errors.hasPrefix("xferctl: "), "\(row.line): \(result)")
            }
        }
    }

    @Test func aFailedTaskWithoutBytesHasNothingToShowAndSaysWhy() async throws {
        let server = try await FaultServer()
        server.on("/gone") { _ in .failure(404) }
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/gone"))
            let waited = try await daemon.ctl("wait", "\(id)")
            #expect(waited.exit == .code(1), "\(waited)")
            let shown = try await daemon.ctl("cat", "\(id)")
            #expect(shown.exit == .code(1) && shown.output.isEmpty, "\(shown)")
            #expect(shown.errors.contains("no bytes are kept") && shown.errors.contains("404"), "\(shown)")
        }
    }

    /// A script adds the tasks of a group, then waits for the group: one may have failed in between.
    @Test func waitingForAGroupFailsUntilItsFailedTasksAreRemoved() async throws {
        let server = try await FaultServer()
        for path in ["/gone", "/lost"] { server.on(path) { _ in .failure(404) } }
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/gone"), ["group": "g"])
            let batch = try await daemon.ctl("batch", "add", "-i", "-", "--wait", input: server.url("/lost"))
            #expect(batch.exit == .code(1), "\(batch)")
            #expect(batch.output.contains("failed --group batch-1` says why 1 failed."), "\(batch)")
            #expect(try await daemon.ctl("wait", "\(id)").exit == .code(1))
            for options in [["g"], ["g", "-q"], ["batch-1"]] {
                let waited = try await daemon.ctl(["wait", "--group"] + options)
                #expect(waited.exit == .code(1), "\(waited)")
                #expect((waited.output + waited.errors).contains("404"), "\(waited)")
            }
            _ = try await daemon.ctl("remove", "\(id)")
            let none = try await daemon.ctl("wait", "--group", "g")
            #expect(none.exit == .code(0) && none.output.contains("nothing to wait for"), "\(none)")
        }
    }

    @Test(arguments: [
        (["--fly"], "--fly"), (["--set", "queue.max_active"], "expected KEY=VALUE"),
        (["--check-config", "--set", "queue.max_active=10001"], "from 1 to 10000"),
    ])
    func aWrongCommandLineOfTheDaemonEndsWith2(arguments: [String], text: String) async throws {
        let result = try await Command.run("\(try Command.productsDirectory)/xferd", arguments)
        #expect(result.exit == .code(2) && result.errors.hasPrefix("xferd: "), "\(result)")
        #expect(result.errors.contains(text), "\(result)")
    }
}
