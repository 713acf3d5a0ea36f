import StrictJSON
import XferProtocol
import XferTestSupport

/// The real `xferctl`, built beside the running tests, talking to a scripted daemon.
enum Program {
    static func run(
        _ arguments: [String], daemon: ScriptedDaemon? = nil, input: String = "", directory: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> Command.Result {
        try await Command.run(
            path, arguments, input: input, environment: Self.environment(daemon).merging(environment) { $1 },
            directory: directory)
    }

    /// On a pseudo-terminal.
    static func start(
        _ arguments: [String], daemon: ScriptedDaemon, on terminal: FakeTerminal, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        var options = ChildProcess.Options()
        options.environment = Self.environment(daemon).merging(environment) { $1 }
        options.input = terminal.path
        options.output = terminal.path
        options.errors = terminal.path
        return try ChildProcess(path, arguments, options: options)
    }

    static var path: String {
        get throws { "\(try Command.productsDirectory)/xferctl" }
    }

    private static func environment(_ daemon: ScriptedDaemon?) -> [String: String] {
        [
            "PATH": "/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TZ": "UTC",
            "XFERD_SOCKET": daemon?.socket ?? "/nonexistent/xferd.sock",
        ].merging(Command.sanitizerOptions) { $1 }
    }
}

/// Tasks and events as a daemon writes them.
enum Wire {
    static func task(_ id: Int64, _ state: String, _ more: JSONObject = [:]) -> JSONValue {
        var object: JSONObject = [
            "id": .integer(id), "state": .string(state), "url": .string("http://host/file\(id).iso"),
        ]
        for (key, value) in more.members { object[key] = value }
        return .object(object)
    }

    static func event(_ type: String, _ id: Int64, seq: Int64? = nil, _ more: JSONObject = [:]) -> JSONValue {
        var object: JSONObject = [
            "time": "2026-01-02T03:04:05.678Z", "type": .string(type), "task_id": .integer(id), "owner": 0,
        ]
        object["seq"] = seq.map { .integer($0) }
        for (key, value) in more.members { object[key] = value }
        return .object(object)
    }

    static func completed(_ id: Int64, seq: Int64 = 9, size: Int64 = 1024) -> JSONValue {
        event(
            "task.completed", id, seq: seq,
            ["terminal": true, "state": "completed", "path": .string("/d/file\(id).iso"), "size": .integer(size)])
    }

    static func failed(_ id: Int64, seq: Int64 = 9) -> JSONValue {
        event(
            "task.failed", id, seq: seq,
            [
                "terminal": true, "state": "failed",
                "error": ["reason": "http_status", "message": "the server answered 404", "is_retriable": false],
            ])
    }

    static func progress(_ id: Int64, received: Int64, total: Int64) -> JSONValue {
        event(
            "task.progress", id,
            [
                "phase": "transferring", "received": .integer(received), "sent": 0, "total": .integer(total),
                "rate": 1_048_576, "eta": 3,
            ])
    }
}
