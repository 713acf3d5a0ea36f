import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// `xferctl export`, and `xferctl add -i` of what it writes.
@Suite struct ExportTests {
    private static let digest = "sha-256=" + String(repeating: "0a", count: 32)
    /// Every field that the format carries, and some that it does not.
    private static let whole: JSONObject = [
        "id": 7, "owner": 1000, "state": "paused", "kind": "download", "url": "http://a/1",
        "urls": ["http://a/1", "http://b/1"], "dir": "/data/set", "output": "x.iso", "checksum": .string(digest),
        "headers": ["X-A": ["1", "2"], "Referer": "http://c/"], "max_recv_rate": 2048, "max_send_rate": 4096,
        "max_retries": 4, "segments": 3, "idle_timeout": 9, "connect_timeout": 3, "min_recv_rate": 100,
        "remote_time": true, "on_conflict": "update", "proxy": ["url": "http://proxy:3128", "no_proxy": ["c", "d"]],
        "label": "set", "priority": "high",
    ]

    private func export(
        _ tasks: [JSONObject], _ arguments: [String] = []
    ) async throws -> (result: Command.Result, calls: [JSONValue]) {
        let daemon = try ScriptedDaemon { method, params in
            switch method {
            case "task.list": return .result(["tasks": .array(tasks.map { .object($0) }), "next_cursor": nil])
            case "task.get":
                let task = tasks.first { $0["id"] == params["id"] } ?? [:]
                return .result(["task": .object(task)])
            default: return .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
        let result = try await Program.run(["export"] + arguments, daemon: daemon)
        return (result, daemon.calls(of: "task.get") + daemon.calls(of: "task.list"))
    }

    /// The fields of the tasks that a list adds.
    private func added(_ list: String) async throws -> [JSONValue] {
        let daemon = try ScriptedDaemon { _, params in
            let tasks = params["tasks"]?.arrayValue ?? []
            return .result(["ids": .array(tasks.indices.map { .integer(Int64($0) + 1) }), "existing": []])
        }
        let result = try await Program.run(["add", "-i", "-"], daemon: daemon, input: list)
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        return daemon.calls(of: "task.add").flatMap { $0["tasks"]?.arrayValue ?? [] }
    }

    @Test func everyOptionThatTheFormatCarriesComesBack() async throws {
        let (result, calls) = try await export([Self.whole])
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.errors == "xferctl: #7: not in the list: priority, label\n", "\(result.errors)")
        #expect(calls.allSatisfy { $0["secrets"] == nil })
        var expected = Self.whole
        for name in ["id", "owner", "state", "kind", "url", "label", "priority"] { expected[name] = nil }
        expected["paused"] = true
        expected["retry_failed"] = true
        #expect(try await added(result.output) == [.object(expected)])
    }

    @Test func aTaskThatWouldStartEarlierThanIntendedIsReported() async throws {
        let task: JSONObject = [
            "id": 1, "state": "waiting", "kind": "download", "url": "http://a/1", "dir": "/d",
            "window": ["times": ["22:00-06:00"]],
        ]
        let start = "; it starts at once when the list is added without --paused\n"
        let result = try await export([task], ["1"]).result
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.errors == "xferctl: #1: not in the list: window\(start)", "\(result)")
        var paused = task
        paused["state"] = "paused"
        let other = try await export([paused], ["1"]).result
        #expect(other.errors == "xferctl: #1: not in the list: window\n", "\(other)")
    }

    @Test func tasksThatLackTheSameShareOneLine() async throws {
        let plain: JSONObject = ["id": 3, "kind": "download", "url": "http://a/1", "dir": "/d"]
        let labelled = ([1, 2] as [Int64]).map { id -> JSONObject in
            var task = plain
            task["id"] = .integer(id)
            task["label"] = "l"
            return task
        }
        let result = try await export(labelled + [plain], ["1,2,3"]).result
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.errors == "xferctl: #1 and 1 more: not in the list: label\n", "\(result)")
    }

    @Test(
        arguments: [
            ("rename", nil), ("overwrite", "overwrite"), ("fail", "fail"), ("update", "update"),
            ("continue", "continue"),
        ] as [(String, String?)])
    func conflictPoliciesComeBack(policy: String, added: String?) async throws {
        let task: JSONObject = [
            "id": 1, "kind": "download", "url": "http://a/1", "dir": "/d", "on_conflict": .string(policy),
        ]
        let result = try await export([task], ["1"]).result
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        #expect(try await self.added(result.output).map { $0["on_conflict"] } == [added.map { .string($0) }])
    }

    @Test func aPlainDownloadLosesNothing() async throws {
        let url = HTTPURL(scheme: .https, host: "h", port: 443, target: "/f")
        let specification = TaskSpecification(
            owner: Owner(uid: 1), request: TransferRequest(url: url), destination: Destination(directory: "/d"))
        let task = TransferTask(
            id: TaskID(1), specification: specification, state: .queued, rank: 0,
            createdAt: Timestamp(microseconds: 0))
        let entry = try ExportedTask(TaskRecord(task), hasSecrets: false)
        #expect(entry.lines == ["https://h/f", "  dir=/d"] && entry.lost.isEmpty, "\(entry)")
    }

    @Test(
        arguments: [
            (["kind": "data"], "for downloads only"), (["method": "POST"], "method"),
            (["url": "http://a/?token=***"], "secret"),
            (["headers": ["Authorization": "***"]], "secret"), (["output": "a\nb"], "control character"),
        ] as [(JSONObject, String)])
    func aTaskThatTheFormatCannotHoldIsLeftOut(fields: JSONObject, reason: String) async throws {
        var task: JSONObject = ["id": 1, "kind": "download", "url": "http://a/1", "dir": "/d"]
        for (name, value) in fields.members { task[name] = value }
        let plain: JSONObject = ["id": 2, "kind": "download", "url": "http://a/2", "dir": "/d"]
        let result = try await export([task, plain]).result
        #expect(result.exit == .code(3) && result.output == "http://a/2\n  dir=/d\n", "\(result)")
        #expect(result.errors.contains("#1 is left out") && result.errors.contains(reason), "\(result)")
    }

    @Test func secretsAreRequestedOnlyWhenTheyAreToBeShown() async throws {
        let task: JSONObject = ["id": 1, "kind": "download", "url": "http://a/?token=s3cret", "dir": "/d"]
        let (result, calls) = try await export([task], ["1", "--show-secrets"])
        #expect(result.exit == .code(0) && result.output == "http://a/?token=s3cret\n  dir=/d\n", "\(result)")
        #expect(calls.map { $0["secrets"] } == [true])
        let both = try await export([task], ["1", "--group", "g"]).result
        #expect(both.exit == .code(2), "\(both)")
    }
}
