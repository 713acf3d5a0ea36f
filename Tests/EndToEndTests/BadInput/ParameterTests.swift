import StrictJSON
import Testing
import XferTestSupport

/// Every bad parameter gets an error that names it, the daemon stays up and adds nothing.
@Suite struct ParameterTests {
    static let url: JSONValue = "http://127.0.0.1:9/file"

    static let badTasks: [(params: JSONValue, path: String)] = [
        (["url": ""], "url"), (["url": "not a url"], "url"), (["url": 5], "url"), (["url": nil], "url"), ([:], "url"),
        (["url": "ftp://127.0.0.1/x"], "url"), (["url": "file:///etc/passwd"], "url"), (["url": "http://"], "url"),
        (["url": "http://127.0.0.1/\u{1}x"], "url"), (["url": "http://127.0.0.1/a\r\nX: y"], "url"),
        (["url": "http://127.0.0.1:99999/"], "url"), (["url": "//127.0.0.1/x"], "url"),
        (["url": "javascript:1"], "url"),
        (["url": url, "checksum": "sha-256=zz"], "checksum"), (["url": url, "checksum": "crc=12"], "checksum"),
        (["url": url, "checksum": "sha-256=abcd"], "checksum"), (["url": url, "checksum": 7], "checksum"),
        (["url": url, "surprise": 1], "surprise"), (["url": url, "outputs": "x"], "outputs"),
        (["url": url, "priority": 3], "priority"), (["url": url, "priority": "highest"], "priority"),
        (["url": url, "max_recv_rate": -1], "max_recv_rate"), (["url": url, "max_recv_rate": "fast"], "max_recv_rate"),
        (["url": url, "max_retries": -5], "max_retries"), (["url": url, "max_retries": 1.5], "max_retries"),
        (["url": url, "idle_timeout": -1], "idle_timeout"), (["url": url, "paused": "yes"], "paused"),
        (["url": url, "headers": ["X": "a\nb"]], "headers"), (["url": url, "headers": ["Bad Name": "x"]], "headers"),
        (["url": url, "headers": ["Range": "bytes=1-"]], "headers"), (["url": url, "headers": []], "headers"),
        (["url": url, "mode": "0999"], "mode"), (["url": url, "mode": "4755"], "mode"),
        (["url": url, "output": ""], "output"), (["url": url, "output": "a/"], "output"),
        (["url": url, "output": ".."], "output"), (["url": url, "output": "a\u{0}b"], "output"),
        (["url": url, "output": "../escape"], "output"), (["url": url, "output": "/etc/xferd-escape"], "output"),
        (["url": url, "dir": "/etc"], "dir"), (["url": url, "dir": "relative"], "dir"),
        (["url": url, "dir": "/proc/self"], "dir"), (["url": url, "client_key": ""], "client_key"),
        (["tasks": [["url": url], ["url": url, "priority": 3]]], "tasks[1].priority"), (["tasks": []], "tasks"),
    ]

    @Test func aTaskWithABadFieldIsRefusedAndTheFieldNamed() async throws {
        try await withDaemon { daemon in
            let session = try daemon.session()
            for (params, path) in Self.badTasks {
                do {
                    let result = try await session.call("task.add", params)
                    Issue.record("\(params.text) was taken: \(result.text)")
                } catch let refusal as RPCRefusal {
                    #expect([-32602, -32003].contains(refusal.code), "\(params.text): \(refusal)")
                    #expect(refusal.path?.hasPrefix(path) == true, "\(params.text): \(refusal)")
                    #expect(refusal.reason != nil && !refusal.message.isEmpty, "\(refusal)")
                }
            }
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
            try await daemon.expectDownloads([])
        }
    }

    @Test func callsWithWrongParametersAreRefused() async throws {
        let calls: [(method: String, params: JSONValue, code: Int64)] = [
            ("task.get", ["id": 999_999], -32001), ("task.get", ["id": "1"], -32602), ("task.get", [:], -32602),
            ("task.get", ["id": -1], -32602), ("task.pause", [:], -32602), ("task.pause", ["filter": [:]], -32602),
            ("task.pause", ["ids": [1], "filter": ["all": true]], -32602), ("task.list", ["limit": 0], -32602),
            ("task.list", ["limit": 100_000], -32602), ("task.list", ["cursor": "nonsense"], -32602),
            ("task.list", ["order": "queue", "cursor": "1.1.1.1.1"], -32602),
            ("task.list", ["order": "queue", "filter": ["state": ["queued", "running"]]], -32602),
            ("task.list", ["filter": ["colour": "red"]], -32602), ("task.fly", [:], -32601), ("", [:], -32601),
            ("events.since", ["seq": -1], -32602), ("queue.set_limits", ["max_active": -1], -32602),
            ("daemon.shutdown", ["mode": "explode"], -32602), ("task.wait", ["ids": [1], "timeout": -1], -32602),
        ]
        try await withDaemon { daemon in
            let session = try daemon.session()
            for (method, params, code) in calls {
                do {
                    let result = try await session.call(method, params)
                    Issue.record("\(method) \(params.text) was answered: \(result.text)")
                } catch let refusal as RPCRefusal {
                    #expect(refusal.code == code, "\(method) \(params.text): \(refusal)")
                }
            }
        }
    }

    @Test func verbsOnTerminalTasksChangeNothing() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(80, length: 10))
        try await withTask(server.url("/f")) { daemon, id in
            try await daemon.complete(id)
            let count = try await daemon.events(of: id).count
            for verb in ["task.pause", "task.resume", "task.cancel", "task.retry"] {
                let result = try await daemon.call(verb, ["ids": [.integer(id), 4711]])
                #expect(result["changed"] == [])
                #expect(result["unchanged"]?.arrayValue?.first?["state"]?.stringValue == "completed")
                #expect(result["missing"] == [4711])
            }
            #expect(try await daemon.events(of: id).count == count)
        }
    }

    @Test func aLinkOutOfTheRootsIsRefused() async throws {
        var options = DaemonFixture.Options()
        let outside = try TemporaryDirectory("xfer-outside")
        let inside = try TemporaryDirectory("xfer-inside")
        options.settings = ["download": ["roots": "[\"\(inside.path)\"]", "dir": "\"\(inside.path)\""]]
        try await withDaemon(options) { daemon in
            let made = try await Command.run("/bin/ln", ["-s", outside.path, inside.file("link")])
            #expect(made.isSuccess)
            for params in [
                ["dir": .string(inside.file("link"))], ["output": "link/f"], ["dir": .string(inside.file("link/.."))],
            ] as [JSONObject] {
                await #expect(throws: RPCRefusal.self, "\(JSONValue.object(params).text)") {
                    _ = try await daemon.add("http://127.0.0.1:9/f", params)
                }
            }
            #expect(try outside.entries() == [])
        }
    }
}
