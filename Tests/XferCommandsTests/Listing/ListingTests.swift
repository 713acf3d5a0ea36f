import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

@Suite struct PastTimeArgumentTests {
    /// 2026-01-02 10:30:00 UTC, a Friday.
    private let now = Timestamp(seconds: 1_767_349_800)

    private func ago(_ text: String) -> Int64? {
        PastTimeArgument(text, now: now, zone: .utc).map { (now.rawValue - $0.time.rawValue) / 1_000_000 }
    }

    @Test(
        arguments: [
            ("today", 37_800), ("yesterday", 37_800 + 86_400), ("today 08:00", 9000), ("yesterday 22:00", 45_000),
            ("Yesterday 08:00:30", 9000 + 86_400 - 30), ("2h", 7200), ("-2h", 7200), ("2h ago", 7200),
            ("now", 0),
            ("08:00", 9000), ("11:00", 84_600), ("2026-01-01", 37_800 + 86_400), ("2026-01-01 10:30", 86_400),
            ("2026-01-02T10:00:00Z", 1800), ("soon", nil), ("", nil), ("2026-13-01", nil),
            ("tomorrow 08:00", nil), ("yesterday 25:00", nil),
        ] as [(String, Int64?)])
    func timesLieInThePast(text: String, seconds: Int64?) { #expect(ago(text) == seconds) }
}

extension LocalZone {
    /// By the proleptic calendar, without the C library's zone.
    fileprivate static let utc = LocalZone(
        timestamp: { civil in
            guard (1...12).contains(civil.month), (1...31).contains(civil.day) else { return nil }
            let text = [civil.month, civil.day, civil.hour, civil.minute, civil.second].map {
                $0 < 10 ? "0\($0)" : "\($0)"
            }
            return Timestamp(rfc3339: "\(civil.year)-\(text[0])-\(text[1])T\(text[2]):\(text[3]):\(text[4])Z")
        },
        civil: { timestamp in
            let parts = timestamp.description.split { "-T:.Z".contains($0) }.compactMap { Int32($0) }
            guard parts.count >= 6 else { return nil }
            return CivilTime(
                year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4], second: parts[5])
        })
}

@Suite struct TaskSearchTests {
    private func task(_ url: String, label: String? = nil, group: String? = nil, output: String? = nil) -> TaskRecord {
        var record = TaskRecord()
        (record.id, record.url, record.label, record.group, record.output) = (TaskID(1), url, label, group, output)
        return record
    }

    private func matches(_ words: [String], _ task: TaskRecord) -> Bool {
        TaskSearch(words: words, since: nil).matches(task)
    }

    @Test func allWordsHaveToBeInNameLabelGroupOrURL() {
        let task = task("https://example.org/pool/Debian-12.iso", label: "weekly", group: "isos", output: "d.iso")
        for words in [["debian"], ["DEBIAN", "weekly"], ["isos", "d.iso"], ["pool"], []] {
            #expect(matches(words, task), "\(words)")
        }
        #expect(!matches(["debian", "ubuntu"], task))
        // A number is an id, which the daemon looks for.
        #expect(matches(["7"], task) && !TaskSearch(words: ["7"], since: nil).filtersLocally)
    }

    @Test func sinceCountsTheAdditionAndTheEnd() {
        func matches(added: Int64, ended: Int64?) -> Bool {
            var task = task("http://h/f")
            task.createdAt = Timestamp(seconds: added)
            task.finishedAt = ended.map { Timestamp(seconds: $0) }
            let since = PastTimeArgument("1970-01-01T00:01:40Z", now: Timestamp(seconds: 1000))
            return TaskSearch(words: [], since: since).matches(task)
        }
        #expect(matches(added: 100, ended: nil) && matches(added: 50, ended: 100) && matches(added: 50, ended: 200))
        #expect(!matches(added: 99, ended: nil) && !matches(added: 50, ended: 99))
    }
}

@Suite struct ListTests {
    private static let stages: [(String, Int64)] = [
        ("completed", 6), ("queued", 5), ("running", 4), ("waiting", 3), ("paused", 2), ("failed", 1),
    ]

    /// A daemon with a task in each state; that of the failed one ended long ago.
    private func daemon() throws -> ScriptedDaemon {
        try ScriptedDaemon { method, params in
            if method == "daemon.status" {
                var status = DaemonStatus.Result()
                status.counts = StateCounts([.completed: 1, .failed: 3])
                return .result(status.wire)
            }
            let wanted = params["filter"]?["state"]
            let states = wanted?.arrayValue?.compactMap(\.stringValue) ?? wanted?.stringValue.map { [$0] }
            let tasks = Self.stages.filter { states?.contains($0.0) ?? true }.map { state, id in
                Wire.task(
                    id, state,
                    state == "failed"
                        ? [
                            "finished_at": "2020-01-01T00:00:00.000Z",
                            "error": ["reason": "dns_failure", "message": "no such host", "is_retriable": true],
                        ] : [:])
            }
            return .result(["tasks": .array(tasks), "next_cursor": nil])
        }
    }

    private func ids(_ result: Command.Result) -> [String] {
        result.output.split(separator: "\n").map { $0.split(separator: " ").first.map(String.init) ?? "" }
    }

    @Test func whatRunsComesFirstAndWhatEndedLongAgoIsHiddenWithACount() async throws {
        let result = try await Program.run(["list", "--no-header"], daemon: try daemon())
        #expect(ids(result) == ["4", "3", "2", "5", "6"], "\(result)")
        #expect(result.errors == "xferctl: 3 that ended before today are hidden; --all shows them\n")
        let all = try await Program.run(["list", "--no-header", "--all"], daemon: try daemon())
        #expect(ids(all) == ["4", "3", "2", "5", "6", "1"] && all.errors.isEmpty, "\(all)")
        let failed = try await Program.run(["list", "--no-header", "--failed"], daemon: try daemon())
        #expect(ids(failed) == ["1"] && failed.errors.isEmpty, "\(failed)")
    }

    @Test func theQueueIsAskedForInItsOrderAndNoMoreThanIsShown() async throws {
        let daemon = try daemon()
        let result = try await Program.run(["list", "-n", "2", "--no-header"], daemon: daemon)
        #expect(ids(result) == ["4", "3"] && result.errors.isEmpty, "\(result)")
        let cut = try await Program.run(["list", "-n", "2"], daemon: try self.daemon())
        #expect(ids(cut) == ["ID", "4", "3"] && cut.errors.contains("there are more"), "\(cut)")
        let one = try self.daemon()
        _ = try await Program.run(["list"], daemon: one)
        let orders = one.calls(of: "task.list").map {
            "\($0["filter"]?["state"]?.text ?? "") \($0["order"]?.text ?? "")"
        }
        #expect(orders.contains(#""queued" "queue""#), "\(orders)")
    }

    @Test func aFleetListsItsQueueByAge() async throws {
        let daemon = try ScriptedDaemon { _, params in
            if params["order"] == "queue" {
                return .failure(
                    RPCFailure(.invalidParams, "order", data: ErrorData(reason: "not_in_fleet", path: "order")))
            }
            let isQueued = params["filter"]?["state"] == "queued"
            return .result(["tasks": isQueued ? [Wire.task(5, "queued")] : [], "next_cursor": nil])
        }
        let result = try await Program.run(["list", "--no-header"], daemon: daemon)
        #expect(ids(result) == ["5"] && result.exit == .code(0), "\(result)")
    }

    @Test func wordsLookAmongAllTasks() async throws {
        let result = try await Program.run(["list", "file4", "--no-header"], daemon: try daemon())
        #expect(ids(result) == ["4"], "\(result)")
        let document = try await Program.run(["list", "file4", "--json"], daemon: try daemon())
        #expect(document.output.contains(#""id":4"#) && !document.output.contains(#""id":5"#), "\(document)")
        let byID = try daemon()
        _ = try await Program.run(["list", "4", "2-3"], daemon: byID)
        #expect(byID.calls(of: "task.list").first?["filter"]?["ids"] == [4, 2, 3])
        let unknown = try await Program.run(["list", "4", "2168", "3000-3009", "--no-header"], daemon: try daemon())
        #expect(unknown.exit == .code(3) && ids(unknown).contains("4"), "\(unknown)")
        #expect(unknown.errors == "xferctl: there is no task 2168\n", "\(unknown)")
    }

    @Test func aStateAmongTheWordsSelectsAndIsNotSearchedFor() async throws {
        let daemon = try ScriptedDaemon { _, _ in
            .result(["tasks": [Wire.task(7, "failed", ["label": "nightly"])], "next_cursor": nil])
        }
        let result = try await Program.run(["list", "Failed", "nightly", "--no-header"], daemon: daemon)
        #expect(result.exit == .code(0) && result.output.contains("file7.iso"), "\(result)")
        #expect(daemon.calls(of: "task.list").first?["filter"]?["state"] == "failed")
        let queue = try await Program.run(["list", "failed", "--queue"], daemon: daemon)
        #expect(queue.exit == .code(2) && queue.errors.contains("--queue lists queued tasks only"), "\(queue)")
        let refused = try await Program.run(["retry", "failed"], daemon: daemon)
        #expect(refused.exit == .code(2), "\(refused)")
        #expect(refused.errors.contains("failed is a state; did you mean --state failed?"), "\(refused)")
    }

    @Test func failuresAreCountedByReasonAndHost() async throws {
        let error: JSONValue = ["reason": "dns_failure", "message": "no such host", "is_retriable": true, "host": "a"]
        let status: JSONValue = [
            "reason": "http_status", "message": "b answered 404 (Not Found)", "is_retriable": false, "host": "b",
        ]
        let daemon = try ScriptedDaemon { _, _ in
            .result([
                "tasks": [
                    Wire.task(9, "failed", ["error": status, "finished_at": "2026-01-02T00:00:00.000Z"]),
                    Wire.task(8, "failed", ["error": error]),
                    Wire.task(7, "failed", ["error": status, "finished_at": "2026-01-01T00:00:00.000Z"]),
                ], "next_cursor": nil,
            ])
        }
        let result = try await Program.run(["failed", "--no-header"], daemon: daemon)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines == ["2 b 404 (Not Found) 2026-01-02 00:00:00 9", "1 a dns failure 8"], "\(result)")
        let recent = try await Program.run(["failed", "--json", "--since", "2026-01-02"], daemon: daemon)
        #expect(recent.output.contains(#""count":1"#) && !recent.output.contains(#""count":2"#), "\(recent)")
        _ = try await Program.run(["failed", "--group", "isos", "--label", "a", "--label", "b"], daemon: daemon)
        let filter = daemon.calls(of: "task.list").last?["filter"]
        #expect(filter == ["state": "failed", "group": "isos", "label": ["a", "b"]], "\(filter ?? .null)")
    }

    @Test func withoutFailuresTheOutputSaysSo() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["tasks": [], "next_cursor": nil]) }
        let none = try await Program.run(["failed"], daemon: daemon)
        #expect(none.exit == .code(0) && none.output.isEmpty, "\(none)")
        #expect(none.errors == "xferctl: no task has failed\n")
        let recent = try await Program.run(["failed", "--since", "2026-01-02"], daemon: daemon)
        #expect(recent.errors == "xferctl: no task has failed since 2026-01-02 00:00:00\n")
        let group = try await Program.run(["failed", "--group", "isos"], daemon: daemon)
        #expect(group.errors == "xferctl: no task of these has failed\n")
    }

    @Test func columnsHaveThePublishedFileAndTheUser() async throws {
        let task = Wire.task(7, "completed", ["final_path": "/d/a b", "owner": 1000])
        let daemon = try ScriptedDaemon { _, _ in .result(["tasks": [task], "next_cursor": nil]) }
        let result = try await Program.run(
            ["list", "--owner", "1000", "--columns", "path", "--no-header", "--oldest-first"], daemon: daemon)
        #expect(result.exit == .code(0) && result.output == "/d/a b\n", "\(result)")
        #expect(daemon.calls(of: "task.list").last?["filter"]?["owner"] == 1000)
        _ = try await Program.run(["list", "--owner", "root"], daemon: daemon)
        #expect(daemon.calls(of: "task.list").last?["filter"]?["owner"] == 0)
        let unknown = try await Program.run(["list", "--owner", "no such user"], daemon: daemon)
        #expect(unknown.exit == .code(2) && unknown.errors.contains("knows no user \"no such user\""), "\(unknown)")
        let field = try await Program.run(["list", "--columns", "id,digest"], daemon: daemon)
        #expect(field.exit == .code(2) && field.errors.contains("--fields digest shows it"), "\(field)")
    }

    @Test(arguments: [[], ["--sort", "id"]])
    func fieldsAreShownInTheOrderOfTheRequestAndWithoutAnID(order: [String]) async throws {
        let tasks: [JSONValue] = [
            Wire.task(7, "completed", ["dir": "/d"]), Wire.task(8, "queued", ["dir": "/e", "label": "l"]),
        ]
        let daemon = try ScriptedDaemon { _, _ in .result(["tasks": .array(tasks), "next_cursor": nil]) }
        let arguments = ["list", "--fields", "url,group,dir"] + order
        let table = try await Program.run(arguments, daemon: daemon)
        let lines = table.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(
            lines == [
                ["URL", "GROUP", "DIR"], ["http://host/file7.iso", "/d"], ["http://host/file8.iso", "/e"],
            ], "\(table)")
        let document = try await Program.run(arguments + ["--json"], daemon: daemon)
        let listed = try JSONValue(parsing: Array(document.output.utf8))["tasks"]?.arrayValue ?? []
        #expect(listed.count == 2 && listed.allSatisfy { $0["id"] == nil }, "\(document)")
        #expect(listed.compactMap { $0["url"]?.stringValue } == ["http://host/file7.iso", "http://host/file8.iso"])
        let named = try await Program.run(["list", "--fields", "id,dir", "--json"] + order, daemon: daemon)
        let ids = try JSONValue(parsing: Array(named.output.utf8))["tasks"]?.arrayValue?.map { $0["id"] }
        #expect(ids == [7, 8], "\(named)")
    }
}
