import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// Filters on the verbs whose methods take ids, and what is said where nothing was to be done.
@Suite struct SelectionTests {
    /// A daemon whose filters find tasks 3 and 5, and which knows the group `isos`.
    private func daemon(
        finding tasks: [JSONValue] = [Wire.task(3, "queued"), Wire.task(5, "waiting")],
        _ answers: [String: JSONValue] = [:]
    ) throws -> ScriptedDaemon {
        try ScriptedDaemon { method, params in
            if let answer = answers[method] { return .result(answer) }
            switch method {
            case "task.list":
                let isForPaused = params["filter"]?["state"] == "paused"
                return .result(["tasks": isForPaused ? [] : .array(tasks), "next_cursor": nil])
            case "task.update", "task.get":
                return params["id"] == 5 && method == "task.update"
                    ? .failure(RPCFailure(.invalidState, "task 5 is running"))
                    : .result(["task": Wire.task(params["id"]?.integerValue ?? 0, "queued")])
            case "task.move": return .result(["changed": params["ids"] ?? [], "unchanged": [], "missing": []])
            case "daemon.status": return .result(DaemonStatus.Result().wire)
            case "events.subscribe": return .result(["subscription": 1, "last_seq": 1])
            case "group.list": return .result(["groups": [Self.group("isos")], "next_cursor": nil])
            case "group.get", "group.pause", "group.resume":
                return params["name"] == "isos"
                    ? .result(["group": Self.group("isos")])
                    : .failure(RPCFailure(.notFound, "there is no such group"))
            default: return .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
    }

    private static func group(_ name: String, isPaused: Bool = false) -> JSONValue {
        var group = GroupRecord()
        (group.name, group.paused) = (name, isPaused)
        return group.wire
    }

    @Test func updateChangesEachTaskOfAFilterByItself() async throws {
        let daemon = try daemon()
        let result = try await Program.run(
            ["update", "--group", "isos", "--priority", "high", "--set-label", "l"], daemon: daemon)
        #expect(result.exit == .code(3), "\(result)")
        #expect(result.output == "updated: #3\n" && result.errors == "xferctl: #5: task 5 is running\n")
        let filter = daemon.calls(of: "task.list").first?["filter"]
        #expect(filter?["group"] == "isos")
        #expect(filter?["state"] == ["queued", "waiting", "running", "paused", "staged"], "\(filter?.text ?? "")")
        #expect(
            daemon.calls(of: "task.update") == [
                ["id": 3, "changes": ["priority": "high", "label": "l"]],
                ["id": 5, "changes": ["priority": "high", "label": "l"]],
            ])
    }

    @Test func groupAndLabelBesideIDsAreWhatTheTaskGets() async throws {
        let daemon = try daemon()
        let result = try await Program.run(["update", "7", "--group", "g", "--label", "l"], daemon: daemon)
        #expect(result.output == "updated: #7\n", "\(result)")
        #expect(daemon.calls(of: "task.update") == [["id": 7, "changes": ["group": "g", "label": "l"]]])
        for wrong in [["7", "--group", "a", "--group", "b"], ["--all", "--group", "a"], ["7", "--failed"]] {
            let refused = try await Program.run(["update"] + wrong + ["--priority", "low"], daemon: daemon)
            #expect(refused.exit == .code(2), "\(refused)")
        }
    }

    @Test func moveAndWaitAndShowTakeFilters() async throws {
        let daemon = try daemon(finding: [Wire.task(3, "staged"), Wire.task(5, "staged")])
        let moved = try await Program.run(["move", "--label", "l", "--before", "5"], daemon: daemon)
        #expect(moved.output == "moved: #3\n", "\(moved)")
        #expect(daemon.calls(of: "task.move") == [["ids": [3], "to": "before", "target": 5]])
        let waited = try await Program.run(["wait", "--all"], daemon: daemon)
        #expect(waited.exit == .code(0) && waited.output.contains("#3 staged"), "\(waited)")
        let shown = try await Program.run(["show", "--failed", "--json"], daemon: daemon)
        #expect(daemon.calls(of: "task.list").last?["filter"] == ["state": "failed"])
        #expect(
            try JSONValue(parsing: Array(shown.output.utf8))["tasks"]?.arrayValue?.map { $0["id"] } == [3, 5],
            "\(shown)")
    }

    @Test func waitingForPausedTasksSaysThatTheyWillNotEnd() async throws {
        let tasks = [Wire.task(3, "staged")]
        let daemon = try ScriptedDaemon { method, _ in
            switch method {
            case "task.list": .result(["tasks": .array(tasks), "next_cursor": nil])
            case "daemon.status": .result(DaemonStatus.Result().wire)
            default: .result(["subscription": 1, "last_seq": 1])
            }
        }
        let result = try await Program.run(["wait", "--all"], daemon: daemon)
        #expect(result.errors == "xferctl: 1 of them is paused and will not end before `xferctl resume`\n", "\(result)")
        #expect(daemon.calls(of: "task.list").dropFirst().first?["filter"] == ["state": "paused"])
    }

    @Test func aRangeMeansTheTasksInItThatExist() async throws {
        let daemon = try daemon()
        let result = try await Program.run(["update", "1-9", "--priority", "low"], daemon: daemon)
        #expect(daemon.calls(of: "task.list").first?["filter"]?["ids"]?.arrayValue?.count == 9)
        #expect(daemon.calls(of: "task.update").map { $0["id"] } == [3, 5], "\(result)")
    }

    @Test(arguments: [["pause"], ["resume"], ["cancel"], ["retry"], ["remove"], ["commit"], ["move", "--top"]])
    func aRangeThatHoldsNoTaskIsRefused(verb: [String]) async throws {
        let nothing: JSONValue = ["changed": [], "unchanged": [], "missing": [7, 8]]
        let daemon = try daemon(finding: [], ["task.\(verb[0])": nothing])
        let result = try await Program.run([verb[0], "7-8"] + verb.dropFirst(), daemon: daemon)
        #expect(result.exit == .code(3) && result.output.isEmpty, "\(result)")
        #expect(result.errors == "xferctl: there is no task in this range\n", "\(result)")
    }

    @Test(arguments: [
        (["pause", "--group", "isoz"], "nothing paused: no task matches --group isoz; "),
        (
            ["update", "--group", "isoz", "--priority", "low"],
            "nothing updated: no unfinished task matches --group isoz; "
        ),
        (["move", "--group", "isoz", "--top"], "nothing moved: no unfinished task matches --group isoz; "),
        (["wait", "--group", "isoz"], "nothing to wait for: no unfinished task matches --group isoz; "),
        (["show", "--group", "isoz"], "nothing to show: no task matches --group isoz; "),
    ])
    func aFilterThatMatchesNothingSaysSoAndNamesTheNearestGroup(arguments: [String], text: String) async throws {
        let nothing: JSONValue = ["changed_count": 0, "unchanged_count": 0]
        let result = try await Program.run(arguments, daemon: try daemon(finding: [], ["task.pause": nothing]))
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.output == "\(text)there is no group \"isoz\"; did you mean isos?\n", "\(result)")
    }

    @Test func theQueueIsListedInItsOrderWithPlaces() async throws {
        let daemon = try daemon(finding: [Wire.task(5, "queued"), Wire.task(3, "queued")])
        let result = try await Program.run(["list", "--queue", "--columns", "id,state"], daemon: daemon)
        #expect(result.output == "POS  ID  STATE\n  1   5  queued\n  2   3  queued\n", "\(result)")
        #expect(daemon.calls(of: "task.list").first?["order"] == "queue")
        for wrong in [["--sort", "name"], ["--oldest-first"], ["--state", "running"]] {
            #expect(try await Program.run(["list", "--queue"] + wrong, daemon: daemon).exit == .code(2))
        }
    }

    @Test func aListThatMatchesNothingLeavesStandardOutputEmptyAndSaysWhy() async throws {
        let daemon = try daemon(finding: [])
        let result = try await Program.run(["list", "--group", "isoz"], daemon: daemon)
        #expect(result.exit == .code(0) && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("did you mean isos?"), "\(result)")
        #expect(try await Program.run(["list"], daemon: daemon).description.contains("no tasks") == false)
    }

    @Test func aVerbThatChangedNothingSaysInWhichStatesTheTasksAre() async throws {
        let daemon = try daemon(
            finding: [Wire.task(3, "completed"), Wire.task(5, "completed"), Wire.task(6, "failed")],
            ["task.pause": ["changed_count": 0, "unchanged_count": 3]])
        let result = try await Program.run(["pause", "--all"], daemon: daemon)
        #expect(
            result.output
                == "nothing paused: 3 tasks match (2 completed, 1 failed), but only queued, waiting and running tasks can "
                + "be paused\n", "\(result)")
    }

    @Test func aGroupThatDoesNotExistIsPausedOnlyIfToldTo() async throws {
        let daemon = try daemon(["group.pause": ["group": Self.group("isoz", isPaused: true)]])
        for verb in ["pause", "resume", "show"] {
            let refused = try await Program.run(["group", verb, "isoz"], daemon: daemon)
            #expect(refused.exit == .code(3), "\(refused)")
            #expect(refused.errors.contains("there is no group \"isoz\"; did you mean isos?"), "\(refused)")
        }
        #expect(daemon.calls(of: "group.pause").isEmpty && daemon.calls(of: "group.resume").isEmpty)
        let created = try await Program.run(["group", "pause", "isoz", "--create"], daemon: daemon)
        #expect(created.exit == .code(0) && created.output.contains("paused"), "\(created)")
    }

    @Test func pausingAndResumingAGroupTwiceSaysThatNothingWasDone() async throws {
        let daemon = try daemon()
        let resumed = try await Program.run(["group", "resume", "isos"], daemon: daemon)
        #expect(resumed.exit == .code(0) && resumed.output == "nothing resumed: the group isos is not paused\n")
        let paused: JSONValue = ["group": Self.group("isos", isPaused: true)]
        let again = try await Program.run(
            ["group", "pause", "isos"], daemon: try self.daemon(["group.get": paused, "group.pause": paused]))
        #expect(again.exit == .code(0) && again.output == "nothing paused: the group isos is paused already\n")
    }
}
