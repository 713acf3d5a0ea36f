import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// What goes to which stream, and what becomes of output that cannot be written.
@Suite struct OutputTests {
    private static func daemon() throws -> ScriptedDaemon {
        try ScriptedDaemon { method, _ in
            switch method {
            case "task.add": .result(["task": Wire.task(7, "queued")])
            case "daemon.status": .result(DaemonStatus.Result().wire)
            case "events.subscribe": .result(["subscription": 1, "last_seq": 1])
            case "task.list": .result(["tasks": [Wire.task(7, "completed")], "next_cursor": nil])
            case "task.result":
                .result([
                    "data": "{\"a\":1}\n", "encoding": "utf-8", "offset": 0, "eof": true, "length": 8,
                ])
            default: .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
    }

    @Test func requestWritesOnlyTheResponseToStandardOutput() async throws {
        let result = try await Program.run(
            ["add", "--kind", "data", "--wait", "http://host/list.json"], daemon: try Self.daemon())
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.output == "{\"a\":1}\n")
        #expect(result.errors.contains("#7"))
    }

    @Test func anAddThatIsWaitedForPrintsOneDocument() async throws {
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "task.add": .result(["task": Wire.task(7, "queued")])
            case "daemon.status": .result(DaemonStatus.Result().wire)
            case "events.subscribe": .result(["subscription": 1, "last_seq": 1])
            case "task.list": .result(["tasks": [Wire.task(7, "completed")], "next_cursor": nil])
            case "task.wait": .result(["tasks": [Wire.task(7, "completed")], "timed_out": false])
            default: .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
        let result = try await Program.run(["add", "--wait", "--json", "http://host/f"], daemon: daemon)
        #expect(result.exit == .code(0), "\(result)")
        let document = try JSONValue(parsing: Array(result.output.utf8))
        #expect(document["tasks"]?.arrayValue?.first?["state"] == "completed")
    }

    @Test func pagesAreOneDocument() async throws {
        let daemon = try ScriptedDaemon { _, params in
            let isFirst = params["cursor"] == nil
            return .result([
                "tasks": [Wire.task(isFirst ? 2 : 1, "queued")], "next_cursor": isFirst ? "more" : nil, "later": true,
            ])
        }
        let result = try await Program.run(["list", "--json"], daemon: daemon)
        #expect(
            try JSONValue(parsing: Array(result.output.utf8)) == [
                "tasks": [Wire.task(2, "queued"), Wire.task(1, "queued")], "next_cursor": nil, "later": true,
            ], "\(result)")
    }

    @Test(arguments: [
        (["list", "--fields", "id,colour"], "there is no field \"colour\""),
        (["list", "--fields", "id,stat"], "did you mean state?"),
        (["list", "--columns", "id,nmae"], "there is no column \"nmae\"; did you mean name?"),
    ])
    func aBadFieldOrColumnIsNamed(arguments: [String], text: String) async throws {
        let result = try await Program.run(arguments)
        #expect(result.exit == .code(2) && result.errors.contains(text), "\(result)")
    }

    @Test(
        arguments: [
            (["list"], "task.list", ["tasks": [], "next_cursor": nil], "no tasks"),
            (["batch", "list"], "batch.list", ["batches": [], "next_cursor": nil], "no batches"),
            (["group"], "group.list", ["groups": [], "next_cursor": nil], "no groups"),
            (["profile"], "profile.list", ["profiles": [], "next_cursor": nil], "no profiles"),
            (["policy"], "policy.list", ["policies": [], "next_cursor": nil], "no policies"),
            (["hook"], "hook.list", ["hooks": [], "next_cursor": nil], "no hooks are configured"),
            (["cache", "list"], "cache.list", ["entries": [], "next_cursor": nil], "the cache is empty"),
            (["failed-url"], "failed_url.list", ["entries": [], "next_cursor": nil], "no failed URLs"),
        ] as [([String], String, JSONValue, String)])
    func anEmptyListSaysSoOnATerminalAndIsNothingElsewhere(
        arguments: [String], method: String, answer: JSONValue, text: String
    ) async throws {
        let daemon = try ScriptedDaemon { called, _ in
            called == method ? .result(answer) : .failure(RPCFailure(.methodNotFound, "no method \(called)"))
        }
        let piped = try await Program.run(arguments, daemon: daemon)
        #expect(piped.exit == .code(0) && piped.output.isEmpty, "\(piped)")
        let terminal = try FakeTerminal(columns: 80)
        let process = try Program.start(arguments, daemon: daemon, on: terminal)
        _ = await process.exit()
        #expect(terminal.written() == text + "\n")
    }

    @Test func bytesThatAreNoTextAreRefusedOnATerminal() async throws {
        for (bytes, isText) in [("plain \u{fc}\n", true), ("a\u{0}b", false), ("\u{1b}[2J", false)] {
            let encoded = JSONValue.string(bytes)
            let daemon = try ScriptedDaemon { _, _ in
                .result([
                    "data": encoded, "encoding": "utf-8", "offset": 0, "eof": true, "length": 8, "state": "completed",
                ])
            }
            let terminal = try FakeTerminal(columns: 80)
            let process = try Program.start(["cat", "7"], daemon: daemon, on: terminal)
            let exit = await process.exit()
            #expect(exit == (isText ? .code(0) : .code(2)), "\(bytes.debugDescription)")
            #expect(terminal.written().contains("not text") == !isText)
            let piped = try await Program.run(["cat", "7"], daemon: daemon)
            #expect(piped.exit == .code(0) && piped.output == bytes, "\(piped)")
        }
    }

    @Test func aPageMayBeginAndEndWithinACharacter() {
        let bytes = Array("aüä€".utf8)
        for end in 1...bytes.count { #expect(PlainBytes.areText(Array(bytes[..<end])), "\(end)") }
        for start in 0..<bytes.count { #expect(PlainBytes.areText(Array(bytes[start...])), "\(start)") }
        #expect(!PlainBytes.areText([0x61, 0xff, 0x61, 0x61, 0x61]))
    }

    @Test(arguments: [["list"], ["--help"], ["man"], ["completions", "fish"], ["events", "--no-follow"]])
    func outputThatCannotBeWrittenEndsWithAMessageAndStatus1(arguments: [String]) async throws {
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "task.list": .result(["tasks": [Wire.task(7, "queued")], "next_cursor": nil])
            case "events.since": .result(["events": [Wire.completed(7)], "last_seq": 9])
            default: .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
        let shell = try #require(Command.find("sh"))
        let result = try await Command.run(
            shell, ["-c", "\"$0\" \"$@\" > /dev/full", try Program.path] + arguments,
            environment: ["XFERD_SOCKET": daemon.socket, "PATH": "/usr/bin:/bin"])
        #expect(result.exit == .code(1), "\(result)")
        #expect(result.errors == "xferctl: cannot write to standard output: No space left on device\n")
    }
}
