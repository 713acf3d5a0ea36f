import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `xferctl` as a person or a script uses it: exit codes and messages one can act on.
@Suite struct CommandLineTests {
    @Test func addWithWaitExitsWithTheOutcomeOfItsTasks() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(90, length: 100_000)
        server.serve("/f.bin", source)
        server.on("/gone") { _ in .failure(404) }
        try await withDaemon { daemon in
            let done = try await daemon.ctl("add", "--wait", server.url("/f.bin"))
            #expect(done.exit == .code(0), "\(done)")
            #expect(try source.equals(file: "\(daemon.downloads)/f.bin"))
            let failed = try await daemon.ctl("add", "--wait", server.url("/gone"))
            #expect(failed.exit == .code(1))
            #expect(failed.description.contains("404"), "\(failed)")
            let here = try await daemon.ctl("add", "--wait", "-o", "named", server.url("/f.bin"))
            #expect(here.exit == .code(0), "\(here)")
            #expect(try source.equals(file: "\(daemon.downloads)/named"))
            let json = try await daemon.ctl("list", "--json")
            #expect(try JSONValue(parsing: Array(json.output.utf8))["tasks"]?.arrayValue?.count == 3)
        }
    }

    static let refused: [(arguments: [String], exit: [Int32], text: String)] = [
        (["add", "ftp://127.0.0.1/x"], [2], "\"ftp://127.0.0.1/x\" is no url"), (["add", ""], [2], "url is empty"),
        (["add"], [2], ""),
        (["add", "file:///etc/passwd"], [2], "is no url"),
        (["add", "--checksum", "sha-256=zz", "http://127.0.0.1:9/"], [2, 3], "checksum"),
        (["add", "--limit-rate", "-1", "http://127.0.0.1:9/"], [2], ""),
        (["add", "--limit-rate", "fast", "http://127.0.0.1:9/"], [2], "limit-rate"),
        (["add", "--priority", "urgent", "http://127.0.0.1:9/"], [2, 3], "priority"),
        (["add", "-o", "/etc/xferd-escape", "http://127.0.0.1:9/"], [3], "-o: \"/etc\" is outside"),
        (["add", "-o", "../../../etc/x", "http://127.0.0.1:9/"], [3], "-o: \""),
        (["add", "-d", "/proc", "http://127.0.0.1:9/"], [3], "-d: \"/proc\" is outside"),
        (["add", "-d", "/proc", "-o", "x", "http://127.0.0.1:9/"], [3], "-d: \"/proc\" is outside"),
        (["add", "-u", "ada:secret", "http://127.0.0.1:9/"], [2], "password"),
        (["show", "999999"], [3], "999999"), (["show", "x"], [2], ""), (["fly"], [2], "fly"), (["pause"], [2], ""),
        (["rpc", "task.fly"], [3], "task.fly"), (["list", "--state", "asleep"], [2, 3], "asleep"),
    ]

    @Test func aRefusedCommandExitsWithAMessageThatNamesTheProblem() async throws {
        try await withDaemon { daemon in
            let xferctl = "\(try Command.productsDirectory)/xferctl"
            for (arguments, exits, text) in Self.refused {
                let result = try await Command.run(
                    xferctl, arguments, environment: daemon.environment, directory: daemon.downloads)
                #expect(exits.map(ChildProcess.Exit.code).contains(result.exit), "\(arguments): \(result)")
                #expect(result.errors.lowercased().contains(text), "\(arguments): \(result)")
                #expect(!result.errors.isEmpty && !result.errors.contains("secret"), "\(arguments): \(result)")
            }
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
        }
    }

    @Test func xferctlWithoutADaemonNamesTheSocketItTried() async throws {
        let nowhere = try TemporaryDirectory()
        let environment = ["HOME": nowhere.path, "XDG_RUNTIME_DIR": nowhere.path, "PATH": "/usr/bin:/bin"]
        let xferctl = "\(try Command.productsDirectory)/xferctl"
        let socket = nowhere.file("none.sock")
        let result = try await Command.run(xferctl, ["--socket", socket, "status"], environment: environment)
        let after = try await Command.run(xferctl, ["status", "--socket", socket], environment: environment)
        let one = [result, after].first { $0.exit == .code(4) }
        #expect(one != nil, "\(result) \(after)")
        #expect(one?.errors.contains(socket) == true)
        #expect(one?.errors.contains("xferd") == true)
        #expect(try await Command.run(xferctl, ["--version"], environment: environment).exit == .code(0))
        #expect(try await Command.run(xferctl, ["--help"], environment: environment).exit == .code(0))
    }

    @Test func aWaitingXferctlOutlastsTheDaemonsRestart() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(91, length: 200_000)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 100_000, until: gate)]])
        try await withDaemon { daemon in
            async let waiting = daemon.ctl("add", "--wait", server.url("/f"))
            await gate.arrived()
            try await daemon.stop()
            try await daemon.start()
            gate.open()
            let result = try await waiting
            #expect(result.exit == .code(0), "\(result)")
            #expect(try source.equals(file: "\(daemon.downloads)/f"))
        }
    }

    @Test func addWritesADownloadToStandardOutputAndKeepsNothing() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(93, length: 3_000_000)
        server.serve("/f", source)
        server.on("/gone") { _ in .failure(404) }
        try await withDaemon { daemon in
            let copy = "\(daemon.downloads)/copy"
            let shell = try #require(Command.find("sh"))
            let done = try await Command.run(
                shell,
                [
                    "-c", #""$0" add -o - --checksum "$2" "$1" > "$3""#,
                    "\(try Command.productsDirectory)/xferctl", server.url("/f"), source.checksum().hexDigits, copy,
                ], environment: daemon.environment)
            #expect(done.exit == .code(0), "\(done)")
            #expect(try source.equals(file: copy))
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
            try await daemon.expectDownloads(["copy"])
            let failed = try await daemon.ctl("add", "-o", "-", server.url("/gone"))
            #expect(failed.exit == .code(1) && failed.output.isEmpty && failed.errors.contains("404"), "\(failed)")
            for wrong in [["-d", "x"], ["--json"], [server.url("/f")], ["--client-key", "k"]] {
                let arguments = ["add", "-o", "-", server.url("/f")] + wrong
                let refused = try await Command.run(
                    "\(try Command.productsDirectory)/xferctl", arguments, environment: daemon.environment)
                #expect(refused.exit == .code(2), "\(refused)")
            }
        }
    }

    @Test func aRefusedUploadMentionsTheAnswerThatIsKept() async throws {
        let server = try await FaultServer()
        server.on("/up") { _ in Reply(400, text: "no such project") }
        try await withDaemon { daemon in
            let file = "\(daemon.downloads)/f"
            try FileTree.write("content", to: file)
            let failed = try await daemon.ctl("add", "--wait", "-T", file, server.url("/up"))
            #expect(failed.exit == .code(1), "\(failed)")
            #expect(failed.errors.contains("result 1` shows the server's answer"), "\(failed)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func anAbandonedDownloadToStandardOutputLeavesNothing(signal: Int32) async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/f", .tagged(94, length: 3_000_000)).always(.stall(at: 1_000_000, until: gate))
        defer { gate.open() }
        try await withDaemon { daemon in
            let late = try await daemon.ctl("add", "-o", "-", "--timeout", "1s", server.url("/f"))
            #expect(late.exit == .code(5) && late.errors.contains("#1 is cancelled"), "\(late)")
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
            var options = ChildProcess.Options()
            options.environment = daemon.environment
            let program = try ChildProcess(
                "\(try Command.productsDirectory)/xferctl", ["add", "-o", "-", server.url("/f")], options: options)
            try await eventually("the task is there") {
                try await daemon.call("task.list")["tasks"]?.arrayValue?.count == 1
            }
            try await daemon.waitForBytes(1_000_000, of: 2)
            kill(program.pid, signal)
            #expect(await program.exit() == .code(130))
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
        }
    }

    @Test func aQueuedTaskThatIsHeldBackSaysWhy() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        defer { gate.open() }
        for name in ["a", "b", "c"] {
            server.serve("/\(name)", .tagged(95, length: 3_000_000)).always(.stall(at: 1_000_000, until: gate))
        }
        let settings = ["queue": ["max_active": "2", "max_active_per_host": "1"]]
        try await withDaemon(DaemonFixture.Options(settings: settings)) { daemon in
            func reason(_ id: Int64) async throws -> String? {
                let task = try await daemon.call("task.get", ["id": .integer(id)])["task"]
                return task?["wait"]?["reason"]?.stringValue
            }
            try await daemon.add(server.url("/a"))
            try await daemon.waitForBytes(1_000_000, of: 1)
            try await daemon.add(server.url("/b"))
            #expect(try await reason(2) == "host_full")
            #expect(try await daemon.ctl("list").output.contains("for a free place at its host"))
            let waited = try await daemon.ctl("wait", "2", "--timeout", "1s")
            #expect(waited.output.contains("#2 queued for a free place at its host"), "\(waited)")
            try await daemon.add(server.url("/c"), ["group": "night"])
            _ = try await daemon.call("group.pause", ["name": "night"])
            #expect(try await reason(3) == "group_paused")
            _ = try await daemon.call("queue.pause")
            for id in [Int64(2), 3] { #expect(try await reason(id) == "queue_paused") }
            #expect(try await reason(1) == nil)
        }
    }

    @Test func aBadLineOfAListStopsNothingUnlessAllOrNothingIsAskedFor() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.pause")
            let list = "http://127.0.0.1:9/a\nmailto:x\nhttp://127.0.0.1:9/b\n dir=/etc\nhttp://127.0.0.1:9/c\n"
            let none = try await daemon.ctl("add", "--atomic", "-i", "-", input: list)
            #expect(none.exit == .code(3) && none.errors.contains("line 2: mailto:x: "), "\(none)")
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
            let some = try await daemon.ctl("add", "-i", "-", input: list)
            #expect(some.exit == .code(3), "\(some)")
            #expect(some.output.hasPrefix("#1 http://127.0.0.1:9/a\n#2 http://127.0.0.1:9/c\n"), "\(some)")
            #expect(some.errors.contains("line 2: mailto:x: ") && some.errors.contains("line 4: dir: "), "\(some)")
            let json = try await daemon.ctl("add", "--json", "-i", "-", input: list)
            let document = try JSONValue(parsing: Array(json.output.utf8))
            #expect(document["tasks"]?.arrayValue?.count == 2, "\(json)")
            #expect(document["errors"]?.arrayValue?.map { $0["line"] } == [2, 4], "\(json)")
        }
    }

    @Test func aListWithABadLineIsAddedInItsOrder() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.pause")
            let urls = (1...100).map { "http://127.0.0.1:9/\($0)" }
            let list = urls.prefix(50) + ["mailto:x"] + urls.dropFirst(50)
            let result = try await daemon.ctl("add", "-i", "-", input: list.joined(separator: "\n"))
            #expect(result.exit == .code(3) && result.errors.contains("line 51: mailto:x: "), "\(result)")
            let listed = try await daemon.call("task.list", ["limit": 1000, "order": "asc"])["tasks"]?.arrayValue
            #expect(listed?.compactMap { $0["url"]?.stringValue } == urls)
        }
    }

    @Test func addReadsItsURLsFromAFile() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(92, length: 10)
        for name in ["a", "b", "c"] { server.serve("/\(name)", source) }
        try await withDaemon { daemon in
            let list = "# three files\n\(server.url("/a"))\n\n\(server.url("/b"))\n\(server.url("/c"))\n"
            let result = try await daemon.ctl("add", "--wait", "-i", "-", input: list)
            #expect(result.exit == .code(0), "\(result)")
            try await daemon.expectDownloads(["a", "b", "c"])
        }
    }
}
