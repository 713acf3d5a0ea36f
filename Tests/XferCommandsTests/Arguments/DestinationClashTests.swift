import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// Files of one call that would replace each other.
@Suite struct DestinationClashTests {
    private static let one = String(repeating: "1", count: 64)
    private static let two = String(repeating: "2", count: 64)

    private func task(
        _ url: String, _ policy: ConflictPolicy?, output: String? = nil, checksum: String? = nil
    ) throws -> ListedTask {
        var task = NewTask(url: url)
        (task.dir, task.output) = ("/d", output)
        task.checksum = try checksum.map { try Checksum(parsing: $0) }
        task.destination.onConflict = Patch(policy)
        return ListedTask(task, line: nil)
    }

    @Test(arguments: ConflictPolicy.allCases)
    func twoSourcesOfOneNamedFileClashIfItIsReplaced(policy: ConflictPolicy) throws {
        let tasks = try ["http://h/a", "http://h/b"].map { try task($0, policy, output: "x") }
        let pairs = DestinationClash.pairs(tasks)
        #expect(pairs.isEmpty == [.rename, .skip, .fail].contains(policy))
        #expect(pairs.allSatisfy { $0.path == "/d/x" && $0.tasks == ["http://h/a", "http://h/b"] && $0.isCertain })
    }

    /// Downloads end in any order.
    @Test(arguments: [ConflictPolicy.rename, .skip, .fail], [true, false])
    func aFileThatOneOfTwoReplacesClashesWhicheverIsFirst(other: ConflictPolicy, isFirst: Bool) throws {
        let policies = isFirst ? [other, .overwrite] : [.overwrite, other]
        let tasks = try zip(["http://h/a", "http://h/b"], policies).map { try task($0, $1, output: "x") }
        #expect(DestinationClash.pairs(tasks).map(\.later) == [1])
    }

    @Test func aReplacingTaskClashesWithAnyEarlierOneOfOtherContent() throws {
        let tasks = try [("http://h/a", nil), ("http://h/b", nil), ("http://h/a", .verify)].map {
            try task($0, $1 as ConflictPolicy?, output: "x")
        }
        let pairs = DestinationClash.pairs(tasks)
        #expect(pairs.map(\.later) == [2] && pairs.map(\.tasks) == [["http://h/b", "http://h/a"]])
    }

    @Test func mirrorsOfTasksAreCompared() throws {
        func task(_ mirror: String) throws -> ListedTask {
            var listed = try self.task("http://h/a", .overwrite, output: "x")
            (listed.task.url, listed.task.urls) = (nil, ["http://h/a", mirror])
            return listed
        }
        #expect(DestinationClash.pairs([try task("http://m/a"), try task("http://m/b")]).count == 1)
        #expect(DestinationClash.pairs([try task("http://m/a"), try task("http://m/a")]).isEmpty)
    }

    @Test func twoDigestsOfOneURLClashAndARepeatedEntryDoesNot() throws {
        func pairs(_ first: String, _ second: String) throws -> [DestinationClash.Pair] {
            DestinationClash.pairs(try [first, second].map { try task("http://h/a", .verify, checksum: $0) })
        }
        #expect(try pairs(Self.one, Self.two).count == 1)
        #expect(try pairs(Self.one, Self.one).isEmpty)
    }

    /// The server's name counts with `overwrite`, and the URL's with `verify`.
    @Test(arguments: [
        (ConflictPolicy.verify, true), (.update, true), (.continue, true), (.overwrite, false),
    ])
    func theNamesOfURLsAreCertainWhereTheServersDoNotCount(policy: ConflictPolicy, isCertain: Bool) throws {
        let urls = ["http://h/r1/data.csv", "http://h/r2/data.csv", "http://h/r1/other"]
        let tasks = try urls.map { try task($0, policy) }
        let pairs = DestinationClash.pairs(tasks)
        #expect(pairs.map(\.path) == ["/d/data.csv"] && pairs.map(\.isCertain) == [isCertain])
    }

    @Test func tasksWithoutAFileDoNotClash() throws {
        let tasks = try ["http://h/a/x", "http://h/b/x"].map { url in
            var listed = try task(url, .overwrite)
            listed.task.kind = .data
            return listed
        }
        #expect(DestinationClash.pairs(tasks).isEmpty)
        #expect(DestinationClash.pairs(try ["http://h/a/", "http://h/b/"].map { try task($0, .verify) }).isEmpty)
    }

    @Test(arguments: [["add"], ["batch", "add"]])
    func ofAtomicListsWithOneNameNothingIsAdded(verb: [String]) async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write(
            "http://h/r1/data.csv\n  out=data.csv\nhttp://h/r2/data.csv\n  out=data.csv\n", to: directory.file("list"))
        let daemon = try ScriptedDaemon { _, _ in .result([:]) }
        let result = try await Program.run(
            verb + ["--atomic", "-i", "list", "-d", "final", "--on-conflict", "overwrite"], daemon: daemon,
            directory: directory.path)
        #expect(result.exit == .code(3), "\(result)")
        #expect(
            result.errors.contains("line 1 (http://h/r1/data.csv) and line 3 (http://h/r2/data.csv) are both"),
            "\(result)")
        #expect(result.errors.contains("nothing was added"), "\(result)")
        #expect(daemon.calls.allSatisfy { !$0.method.hasSuffix(".add") })
    }

    @Test(arguments: [["add"], ["batch", "add"]])
    func ofListsWithOneNameTheLaterEntryAloneIsRefused(verb: [String]) async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write(
            "http://h/r1/x\n  out=x\nhttp://h/r2/x\n  out=x\nhttp://h/y\n", to: directory.file("list"))
        var batch = BatchRecord()
        (batch.id, batch.total) = (BatchID(4), 2)
        let record = batch.wire
        // A batch exists or does not; of tasks the ids of those that did are listed.
        let existing: JSONValue = verb == ["add"] ? [] : false
        let daemon = try ScriptedDaemon { _, _ in
            .result(["ids": [1, 2], "existing": existing, "batch": record, "errors": []])
        }
        let result = try await Program.run(
            verb + ["-i", "list", "-d", "final", "--on-conflict", "overwrite"], daemon: daemon,
            directory: directory.path)
        #expect(result.exit == .code(3), "\(result)")
        #expect(
            result.errors.contains("line 3: http://h/r2/x: ")
                && result.errors.contains("is also the file of line 1 (http://h/r1/x)"), "\(result)")
        #expect(!result.errors.contains("nothing was added"), "\(result)")
        let calls = daemon.calls.filter { $0.method.hasSuffix(".add") }
        #expect(calls.map { $0.params["tasks"]?.arrayValue?.count } == [2], "\(calls)")
    }

    /// The daemon's answer to tasks whose files only it can compare, for example because of a symbolic link.
    private static func refusal(_ later: Int, _ earlier: Int) -> RPCFailure {
        let path = "tasks[\(later)].output"
        return RPCFailure(
            .invalidParams, "\(path): /d/x is also the file of tasks[\(earlier)], which has another URL",
            data: ErrorData(reason: "invalid_value", path: path))
    }

    @Test func aClashThatTheDaemonFindsRefusesItsLineAlsoBesideABadOne() async throws {
        let daemon = try ScriptedDaemon { _, params in
            guard let tasks = params["tasks"]?.arrayValue else { return .result(["task": Wire.task(1, "queued")]) }
            let urls = tasks.map { $0["url"]?.stringValue ?? "" }
            if let bad = urls.firstIndex(of: "http://h/bad") {
                let path = "tasks[\(bad)].url"
                let data = ErrorData(reason: "invalid_value", path: path)
                return .failure(RPCFailure(.invalidParams, "\(path): expected a host", data: data))
            }
            if let earlier = urls.firstIndex(of: "http://h/a"), let later = urls.firstIndex(of: "http://h/b") {
                return .failure(Self.refusal(later, earlier))
            }
            return .result(["ids": .array(urls.indices.map { .integer(Int64($0) + 1) }), "existing": []])
        }
        let list = "http://h/a\nhttp://h/c\nhttp://h/b\nhttp://h/bad\n"
        let result = try await Program.run(["add", "-i", "-"], daemon: daemon, input: list)
        #expect(result.exit == .code(3) && result.output.hasPrefix("#1 http://h/a\n#2 http://h/c\n"), "\(result)")
        #expect(
            result.errors.contains("line 3: output: /d/x is also the file of line 1 (http://h/a), which has"),
            "\(result)")
        #expect(result.errors.contains("line 4: http://h/bad: expected a host"), "\(result)")
    }

    @Test(arguments: [["add", "--atomic"], ["batch", "add", "--atomic"]])
    func aClashThatTheDaemonFindsNamesTheLinesOfAnAtomicList(verb: [String]) async throws {
        let daemon = try ScriptedDaemon { _, _ in .failure(Self.refusal(1, 0)) }
        let result = try await Program.run(
            verb + ["-i", "-"], daemon: daemon, input: "# comment\nhttp://h/a\nhttp://h/b\n")
        #expect(
            result.exit == .code(3)
                && result.errors.contains("line 3: output: /d/x is also the file of line 2 (http://h/a), which"),
            "\(result)")
    }

    @Test func aClashOfURLsThatTheDaemonFindsNamesTheirNumbers() async throws {
        let daemon = try ScriptedDaemon { _, _ in .failure(Self.refusal(1, 0)) }
        let result = try await Program.run(["add", "http://h/a", "http://h/b"], daemon: daemon)
        #expect(result.errors.contains("also the file of URL number 1, which"), "\(result)")
        #expect(result.exit == .code(3) && !result.errors.contains("tasks["), "\(result)")
    }

    @Test func namesThatTheServerMayChangeAreWarnedOf() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["ids": [1, 2], "existing": []]) }
        let result = try await Program.run(
            ["add", "-d", "/d", "--on-conflict", "overwrite", "http://h/r1/data.csv", "http://h/r2/data.csv"],
            daemon: daemon)
        #expect(result.exit == .code(0) && result.errors.contains("unless the server names them"), "\(result)")
    }
}
