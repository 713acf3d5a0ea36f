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

    @Test(arguments: [["list"], ["--help"], ["man"], ["completions", "fish"], ["events", "--no-follow"]])
    func outputThatCannotBeWrittenEndsWithAStatusOfItsOwn(arguments: [String]) async throws {
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
        #expect(result.exit == .code(6), "\(result)")
        #expect(result.errors == "xferctl: cannot write to standard output: No space left on device\n")
    }
}
