import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// One call answered with one result; everything else is refused.
private func daemon(_ method: String, _ result: JSONValue) throws -> ScriptedDaemon {
    try ScriptedDaemon { called, _ in
        called == method ? .result(result) : .failure(RPCFailure(.methodNotFound, "no method \(called)"))
    }
}

@Suite struct AddTests {
    @Test func anAddWithoutADirectorySaysWhereTheFileGoesUnlessThatIsHere() async throws {
        let directory = try TemporaryDirectory()
        let places: [(dir: String, arguments: [String], output: String)] = [
            ("/srv/in", [], "#17 queued: file17.iso in /srv/in (-O: here)\n"),
            (directory.path, [], "#17 queued: file17.iso\n"),
            (directory.path, ["-O"], "#17 queued: file17.iso\n"),
            ("/srv/in", ["-d", "/srv/in"], "#17 queued: file17.iso\n"),
        ]
        for place in places {
            let daemon = try ScriptedDaemon { _, _ in
                .result([
                    "task": Wire.task(17, "queued", ["kind": "download", "dir": .string(place.dir)])
                ])
            }
            let result = try await Program.run(
                ["add"] + place.arguments + ["http://host/file17.iso"], daemon: daemon, directory: directory.path)
            #expect(result.exit == .code(0) && result.output == place.output, "\(result)")
        }
        let daemon = try ScriptedDaemon { method, _ in
            method == "task.get"
                ? .result(["task": Wire.task(17, "queued", ["kind": "download", "dir": "/srv/in"])])
                : .result(["ids": [17, 18], "existing": []])
        }
        let many = try await Program.run(
            ["add", "http://host/a", "http://host/b"], daemon: daemon, directory: directory.path)
        #expect(many.output == "#17 http://host/a\n#18 http://host/b\n    in /srv/in (-O: here)\n", "\(many)")
    }

    @Test func addOptionsBecomeTaskFieldsWithTheCallersPaths() async throws {
        let daemon = try daemon("task.add", ["task": Wire.task(17, "queued")])
        let directory = try TemporaryDirectory()
        try FileTree.write("hunter2\nsecond line\n", to: directory.file("pw"))
        let result = try await Program.run(
            [
                "add", "-o", "sub/x.iso", "-H", "Accept: a", "-H", "Accept: b", "-u", "me", "--password-file", "pw",
                "--limit-rate", "64Ki", "--segments", "8", "--priority", "high", "--paused", "--on-conflict", "skip",
                "--mode", "640",
                "-R", "--group", "g", "--label", "l", "--client-key", "k", "--max-retries", "3", "--retry-for", "2h",
                "--connect-timeout", "5", "--idle-timeout", "1m", "--total-timeout", "1h", "--http1.1", "--redirect",
                "same_origin", "--allow-downgrade", "--meta", #"{"job":1}"#, "--resume", "unsafe", "--accept-status",
                "200", "--checksum", "md5=d41d8cd98f00b204e9800998ecf8427e", "--owner", "bob", "http://host/file.iso",
            ], daemon: daemon, directory: directory.path)
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.output == "#17 queued: file17.iso\n")
        let params = try #require(daemon.calls(of: "task.add").first)
        #expect(
            params == [
                "url": "http://host/file.iso", "headers": ["Accept": ["a", "b"]],
                "output": .string("\(directory.path)/sub/x.iso"),
                "on_conflict": "skip",
                "checksum": "md5=d41d8cd98f00b204e9800998ecf8427e", "mode": "0640", "remote_time": true,
                "priority": "high", "group": "g", "label": "l", "owner": "bob", "client_key": "k", "paused": true,
                "max_retries": 3,
                "retry_for": 7200, "retry_failed": true, "max_recv_rate": 65_536, "segments": 8, "resume": "unsafe",
                "redirect": "same_origin",
                "allow_downgrade": true, "http_version": "1.1", "connect_timeout": 5, "idle_timeout": 60,
                "total_timeout": 3600, "accept_status": "200",
                "credential": ["user": "me", "password": "hunter2"], "meta": ["job": 1],
            ])
        // What is sent is what the daemon's own strict reader takes.
        _ = try TaskAdd.Params(strict: params)
    }

    @Test func anAddThatContinuesIsAnAddWithThatConflictPolicy() async throws {
        let daemon = try daemon("task.add", ["task": Wire.task(1, "queued")])
        let result = try await Program.run(["add", "-c", "http://host/f"], daemon: daemon)
        #expect(result.exit == .code(0), "\(result)")
        #expect(daemon.calls(of: "task.add").first?["on_conflict"] == "continue")
        let both = try await Program.run(["add", "-c", "--on-conflict", "skip", "http://host/f"], daemon: daemon)
        #expect(both.exit == .code(2) && both.errors.contains("exclude each other"), "\(both)")
    }

    @Test func theResponseToHEADIsItsHeaderFields() async throws {
        let task = Wire.task(
            7, "completed", ["kind": "data", "http_status": 200, "response_headers": ["Content-Length": "12"]])
        let tasks = Tasks([7: task])
        let daemon = try ScriptedDaemon { method, params in
            method == "task.get" ? .result(["task": task]) : tasks.answer(method, params)
        }
        let result = try await Program.run(["add", "--wait", "-X", "HEAD", "http://h/f"], daemon: daemon)
        #expect(result.exit == .code(0) && result.output == "HTTP 200\nContent-Length: 12\n", "\(result)")
        #expect(daemon.calls(of: "task.result").isEmpty)
    }

    @Test func addWithoutDirectoryAndOutputUsesTheDaemonsDirectory() async throws {
        let daemon = try daemon("task.add", ["task": Wire.task(1, "queued")])
        _ = try await Program.run(["add", "http://host/f"], daemon: daemon)
        #expect(daemon.calls(of: "task.add") == [["url": "http://host/f", "retry_failed": true]])
    }

    @Test func aListIsNotFetchedWhileTheQueueIsPaused() async throws {
        var stats = QueueStats.Result()
        stats.paused = true
        let daemon = try daemon("queue.stats", stats.wire)
        let result = try await Program.run(["add", "--checksums", "http://h/SHA256SUMS"], daemon: daemon)
        #expect(result.exit == .code(3) && result.errors.contains("`xferctl queue resume`"), "\(result)")
        #expect(result.errors.contains("nothing was added") && daemon.calls(of: "task.add").isEmpty, "\(result)")
    }

    @Test func remoteNameOptionMeansTheCurrentDirectoryAndTheServersName() async throws {
        let daemon = try daemon("task.add", ["task": Wire.task(1, "queued")])
        let directory = try TemporaryDirectory()
        _ = try await Program.run(["add", "-O", "http://host/f"], daemon: daemon, directory: directory.path)
        #expect(
            daemon.calls(of: "task.add")
                == [["url": "http://host/f", "dir": .string(directory.path), "retry_failed": true]])
    }

    @Test func theDocumentOfAnAddHasTasksForOneURLAndForSeveral() async throws {
        let task = Wire.task(17, "queued", ["from_the_future": [1, 2]])
        let daemon = try ScriptedDaemon { _, params in
            params["tasks"] == nil
                ? .result(["task": task, "existing": true, "seq": 4, "later": nil])
                : .result(["ids": [17, 18], "existing": [1], "seq": 4])
        }
        let documents: [([String], JSONValue)] = [
            (["http://host/f"], ["tasks": [task], "existing": [0], "seq": 4, "later": nil]),
            (["http://host/f", "http://host/g"], ["tasks": [["id": 17], ["id": 18]], "existing": [1], "seq": 4]),
            (["-i", "-"], ["tasks": [["id": 17], ["id": 18]], "existing": [1], "seq": 4]),
        ]
        for (arguments, document) in documents {
            let result = try await Program.run(
                ["add", "--json"] + arguments, daemon: daemon, input: "http://host/f\nhttp://host/g\n")
            #expect(try JSONValue(parsing: Array(result.output.utf8)) == document, "\(result)")
        }
    }

    @Test(arguments: [["show", "7"], ["update", "7", "--priority", "low"]])
    func theDocumentOfOneTaskIsThatOfSeveral(arguments: [String]) async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(7, "queued")]) }
        let result = try await Program.run(arguments + ["--json"], daemon: daemon)
        #expect(
            try JSONValue(parsing: Array(result.output.utf8)) == ["tasks": [Wire.task(7, "queued")]], "\(result)")
    }

    @Test func aURLListIsAddedInCallsOfAThousandAndAnsweredAsOne() async throws {
        let daemon = try ScriptedDaemon { _, params in
            let count = params["tasks"]?.arrayValue?.count ?? 0
            return .result(["ids": .array((1...Int64(max(1, count))).map { .integer($0) }), "existing": []])
        }
        let list = "# list\n" + (1...10_001).map { "http://host/\($0)\n" }.joined()
        let result = try await Program.run(["add", "-i", "-", "--group", "mirror"], daemon: daemon, input: list)
        #expect(result.exit == .code(0), "\(result)")
        let batches = daemon.calls(of: "task.add").map { $0["tasks"]?.arrayValue ?? [] }
        // The first call is short, so that its transfers begin while the others are admitted.
        try #require(batches.map(\.count) == [64] + Array(repeating: 1000, count: 9) + [937], "\(result)")
        #expect(batches[10].last == ["url": "http://host/10001", "group": "mirror", "retry_failed": true])
        #expect(result.output == "10001 tasks: #1 to #1000\n")
    }

    @Test func batchesStayBelowTheLongestMessage() {
        let tasks = (0..<3000).map { NewTask(url: "http://host/\($0)?" + String(repeating: "x", count: 4000)) }
        let batches = Array(TaskBatches(tasks))
        #expect(batches.flatMap { $0 } == tasks)
        #expect(batches.count > 1)
        for batch in batches {
            #expect(TaskAdd.Params.many(Array(batch)).wire.text.utf8.count < 4 << 20)
        }
    }

    @Test func aTaskTooLargeForAnyMessageIsSentAlone() {
        let tasks = [NewTask(url: "a"), NewTask(url: String(repeating: "x", count: 4 << 20)), NewTask(url: "b")]
        #expect(TaskBatches(tasks).map(\.count) == [1, 1, 1])
    }

    @Test func aRefusedEntryIsNamedByItsNumber() async throws {
        let daemon = try ScriptedDaemon { _, _ in
            let data = ErrorData(reason: "invalid_value", path: "tasks[1].url", expected: "a host")
            return .failure(RPCFailure(.invalidParams, "tasks[1].url: expected a host", data: data))
        }
        let result = try await Program.run(["add", "http://host/a", "http:///b"], daemon: daemon)
        #expect(result.exit == .code(3))
        #expect(
            result.errors
                == "xferctl: URL number 2 (http:///b): expected a host; nothing was added\n")
    }
}

@Suite struct VerbTests {
    @Test(arguments: [
        ("pause", "paused", "; only queued, waiting and running tasks can be paused"),
        ("resume", "resumed", "; only waiting and paused tasks can be resumed"),
        ("cancel", "cancelled", "; only unfinished tasks can be cancelled"),
        ("retry", "retried", "; only failed and cancelled tasks can be retried"), ("remove", "removed", ""),
    ])
    func aVerbWithSeveralIDsMakesOneCall(verb: String, participle: String, reason: String) async throws {
        let daemon = try daemon(
            "task.\(verb)", ["changed": [17], "unchanged": [["id": 18, "state": "completed"]], "missing": []])
        let result = try await Program.run([verb, "17", "#18"], daemon: daemon)
        #expect(result.exit == .code(0))
        #expect(result.output == "\(participle): #17\nunchanged: #18 is completed\(reason)\n")
        #expect(daemon.calls(of: "task.\(verb)") == [["ids": [17, 18]]])
    }

    @Test(arguments: [
        ("resume", "queued", "show 18"), ("remove", "running", "cancel 18"), ("remove", "queued", "cancel 18"),
        ("retry", "waiting", "resume 18"),
    ])
    func anUnchangedTaskIsPrintedWithTheCommandThatHelps(verb: String, state: String, command: String) async throws {
        let daemon = try daemon(
            "task.\(verb)",
            ["changed": [], "unchanged": [["id": 18, "state": .string(state)]], "missing": []])
        let result = try await Program.run([verb, "18"], daemon: daemon)
        #expect(result.exit == .code(0) && result.output.hasPrefix("unchanged: #18 is \(state)"), "\(result)")
        #expect(result.output.contains("`xferctl \(command)`"), "\(result)")
    }

    @Test(arguments: ["pause", "resume", "cancel", "retry", "remove", "commit"])
    func aQuietVerbPrintsErrorsOnly(verb: String) async throws {
        let willing = try daemon(
            "task.\(verb)", ["changed": [1], "unchanged": [["id": 2, "state": "completed"]], "missing": []])
        let done = try await Program.run([verb, "-q", "1", "2"], daemon: willing)
        #expect(done.exit == .code(0) && done.output.isEmpty && done.errors.isEmpty, "\(done)")
        let absent = try daemon("task.\(verb)", ["changed": [], "unchanged": [], "missing": [99]])
        let refused = try await Program.run(["--quiet", verb, "99"], daemon: absent)
        #expect(refused.exit == .code(3) && refused.output.isEmpty, "\(refused)")
        #expect(refused.errors == "xferctl: there is no task 99\n")
    }

    @Test func anUnknownIDExitsWith3AfterTheOthersWereActedOn() async throws {
        let daemon = try daemon("task.pause", ["changed": [1], "unchanged": [], "missing": [99]])
        let result = try await Program.run(["pause", "1", "99"], daemon: daemon)
        #expect(result.exit == .code(3))
        #expect(result.output == "paused: #1\n" && result.errors == "xferctl: there is no task 99\n")
    }

    @Test(
        arguments: [
            (["--all"], ["all": true]), (["--state", "failed"], ["state": "failed"]),
            (
                [
                    "--state", "queued", "--state", "waiting", "--group", "g", "--label", "l", "--slot", "s", "--host",
                    "h:80", "--host", "h",
                ],
                ["state": ["queued", "waiting"], "group": "g", "label": "l", "slot": "s", "host": ["h:80", "h"]]
            ), (["--failed", "--reason", "http_status"], ["state": "failed", "reason": "http_status"]),
        ] as [([String], JSONValue)])
    func listFiltersSelectTasks(arguments: [String], filter: JSONValue) async throws {
        let daemon = try daemon("task.cancel", ["changed_count": 3, "unchanged_count": 1])
        let result = try await Program.run(["cancel"] + arguments, daemon: daemon)
        #expect(result.output == "3 cancelled, 1 unchanged\n")
        #expect(daemon.calls(of: "task.cancel") == [["filter": filter]])
    }

    @Test func listFollowsThePagesUpToItsLimit() async throws {
        let daemon = try ScriptedDaemon { _, params in
            let limit = params["limit"]?.integerValue ?? 0
            let first = params["cursor"] == nil ? Int64(2000) : 1000
            let tasks = (0..<limit).map { Wire.task(first - $0, "queued") }
            return .result(["tasks": .array(tasks), "next_cursor": "more"])
        }
        let result = try await Program.run(["list", "-n", "1500"], daemon: daemon)
        #expect(daemon.calls(of: "task.list").map { $0["limit"] } == [1000, 500])
        #expect(result.output.split(separator: "\n").count == 1501)
        #expect(result.errors.contains("there are more"))
    }

    @Test func listIsAnAlignedTableWithoutEscapesIfPiped() async throws {
        let daemon = try daemon(
            "task.list",
            [
                "tasks": [
                    Wire.task(
                        12, "running",
                        [
                            "phase": "transferring",
                            "progress": ["received": 524_288, "sent": 0, "total": 1_048_576, "rate": 2048, "eta": 256],
                        ]),
                    Wire.task(
                        7, "failed",
                        [
                            "label": "evil\u{1b}[2J",
                            "error": ["reason": "dns_failure", "message": "no such host", "is_retriable": true],
                        ]),
                ], "next_cursor": nil,
            ])
        let result = try await Program.run(["list"], daemon: daemon)
        #expect(
            result.output
                == """
                ID  STATE    DONE     SIZE       RATE  LABEL     NAME        NOTE
                12  running   50%  1.0 MiB  2.0 KiB/s            file12.iso
                 7  failed                             evil␛[2J  file7.iso   dns failure

                """)
    }

    @Test func showAdvisesOnAFailure() async throws {
        let daemon = try daemon(
            "task.get",
            [
                "task": Wire.task(
                    7, "failed",
                    ["error": ["reason": "checksum_mismatch", "message": "sha-256 differs", "is_retriable": false]])
            ])
        let result = try await Program.run(["show", "7"], daemon: daemon)
        #expect(result.output.contains("error              sha-256 differs (checksum_mismatch)"))
        #expect(result.output.contains("what to do         Check the checksum you gave"))
    }

    @Test func updateSendsOnlyChangedFieldsAndClearsUnsetOnes() async throws {
        let daemon = try daemon("task.update", ["task": Wire.task(7, "queued")])
        let result = try await Program.run(
            ["update", "7", "--priority", "low", "--limit-rate", "0", "--clear", "label"], daemon: daemon)
        #expect(result.exit == .code(0), "\(result)")
        #expect(
            daemon.calls(of: "task.update")
                == [["id": 7, "changes": ["priority": "low", "label": nil, "max_recv_rate": 0]]])
    }

    @Test func limitsCanBeSetAndResetToTheConfiguration() async throws {
        let daemon = try daemon(
            "queue.set_limits",
            [
                "limits": [
                    "max_active": 2, "max_active_per_host": 4, "order": "fifo", "max_recv_rate": 2_000_000,
                    "max_send_rate": 0,
                ]
            ])
        let result = try await Program.run(
            [
                "limit", "--max-active", "2", "--max-active-per-host", "default", "--order", "lifo", "--recv", "2M",
                "--send", "default",
            ], daemon: daemon)
        #expect(result.exit == .code(0), "\(result)")
        #expect(
            daemon.calls(of: "queue.set_limits")
                == [
                    [
                        "max_active": 2, "max_active_per_host": nil, "order": "lifo", "max_recv_rate": 2_000_000,
                        "max_send_rate": nil,
                    ]
                ])
    }

    @Test func moveNamesItsTarget() async throws {
        let daemon = try daemon("task.move", ["changed": [7], "unchanged": [], "missing": []])
        _ = try await Program.run(["move", "7", "--before", "3"], daemon: daemon)
        #expect(daemon.calls(of: "task.move") == [["ids": [7], "to": "before", "target": 3]])
    }

    @Test func rpcPassesParametersAndPrintsTheResult() async throws {
        let daemon = try daemon("any.method", ["x": [1, nil, 2.5]])
        let result = try await Program.run(["rpc", "any.method", #"{"a": "b"}"#], daemon: daemon)
        #expect(result.output == #"{"x":[1,null,2.5]}"# + "\n")
        #expect(daemon.calls(of: "any.method") == [["a": "b"]])
    }

    @Test(arguments: [
        (RPCFailure(.permissionDenied, "only operators may do this"), "only operators may do this"),
        (
            RPCFailure(.rejectedByPolicy, "outside every root", data: ErrorData(reason: "roots", path: "dir")),
            "dir: outside every root"
        ),
        (
            RPCFailure(.storageUnavailable, "the database cannot be written"),
            "the database cannot be written; check the daemon's state directory (`xferctl status`); then the daemon continues by itself"
        ),
    ])
    func aRefusalExitsWith3AndNamesTheFieldAndTheRemedy(failure: RPCFailure, text: String) async throws {
        let daemon = try ScriptedDaemon { _, _ in .failure(failure) }
        let result = try await Program.run(["status"], daemon: daemon)
        #expect(result.exit == .code(3))
        #expect(result.errors == "xferctl: \(text)\n")
    }

    @Test func aDaemonThatHangsUpExitsWith4() async throws {
        let daemon = try ScriptedDaemon { _, _ in .hangUp }
        let result = try await Program.run(["status"], daemon: daemon)
        #expect(result.exit == .code(4))
        #expect(result.errors == "xferctl: the daemon closed the connection\n")
    }

    @Test(arguments: [("running", true), ("waiting", false), ("failed", false)])
    func theFailureOfAnEarlierAttemptIsShownAsSuch(state: String, isEarlier: Bool) async throws {
        let error: JSONValue = ["reason": "disk_full", "message": "/d lacks 1 GiB", "is_retriable": true]
        let daemon = try daemon("task.get", ["task": Wire.task(7, state, ["error": error])])
        let result = try await Program.run(["show", "7"], daemon: daemon)
        #expect(result.exit == .code(0) && result.output.contains("/d lacks 1 GiB (disk_full)"), "\(result)")
        #expect(result.output.contains("of an earlier attempt: /d lacks") == isEarlier, "\(result)")
    }

    /// Of 6,000 events every thousandth is of the type; the oldest 1,500 are no longer stored.
    @Test(arguments: [(["-n", "2"], 2), (["--last", "4"], 4), (["-n", "99"], 5)])
    func theNewestEventsAreCountedAsTheyAreShown(arguments: [String], count: Int) async throws {
        let daemon = try ScriptedDaemon { method, params in
            let seq = params["seq"]?.integerValue ?? 0
            switch method {
            case "events.subscribe": return .result(["subscription": 1, "last_seq": 6000])
            case "events.unsubscribe": return .result(JSONValue.object(JSONObject()))
            default:
                if seq < 1500 { return .result(["gap": true, "first_seq": 1501]) }
                let last = min(6000, seq + 700)
                let stored: [Int64] = [1000, 2000, 3000, 4000, 5000, 6000]
                let events = stored.filter { $0 > seq && $0 <= last }
                return .result([
                    "events": .array(events.map { Wire.completed(7, seq: $0) }), "last_seq": .integer(last),
                ])
            }
        }
        let result = try await Program.run(
            ["events", "--no-follow", "-t", "task.completed"] + arguments, daemon: daemon)
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        #expect(result.output.split(separator: "\n").count == count, "\(result)")
    }

    @Test(arguments: [
        (["--since", "5"], 5, ""),
        (["--since", "7"], 7, "xferctl: --since 7: the newest event has the number 6\n"),
    ])
    func eventsBeginAfterANumberThatExists(arguments: [String], seq: Int64, errors: String) async throws {
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "events.subscribe": .result(["subscription": 1, "last_seq": 6])
            case "events.unsubscribe": .result(JSONValue.object(JSONObject()))
            default: .result(["events": [], "last_seq": 6])
            }
        }
        let result = try await Program.run(["events", "--no-follow"] + arguments, daemon: daemon)
        #expect(result.exit == .code(0) && result.errors == errors, "\(result)")
        #expect(daemon.calls(of: "events.since").first?["seq"] == .integer(seq))
    }

    @Test func eventsAreReadPageByPageAcrossAGap() async throws {
        let daemon = try ScriptedDaemon { _, params in
            switch params["seq"]?.integerValue {
            case 0: .result(["gap": true, "first_seq": 5])
            case 4: .result(["events": [Wire.completed(7, seq: 5)], "last_seq": 6])
            default: .result(["events": [], "last_seq": 6])
            }
        }
        let result = try await Program.run(["events", "--no-follow", "--since", "0"], daemon: daemon)
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.output == "2026-01-02 03:04:05      5 task.completed      #7     path=/d/file7.iso size=1024\n")
        #expect(result.errors.contains("the oldest is number 5"))
    }
}
