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
    func twoSourcesOfOneNamedFileClashUnlessTheLaterIsRenamed(policy: ConflictPolicy) throws {
        let tasks = try ["http://h/a", "http://h/b"].map { try task($0, policy, output: "x") }
        let pairs = DestinationClash.pairs(tasks)
        #expect(pairs.isEmpty == (policy == .rename))
        #expect(pairs.allSatisfy { $0.path == "/d/x" && $0.tasks == ["http://h/a", "http://h/b"] && $0.isCertain })
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
        (ConflictPolicy.verify, true), (.update, true), (.continue, true), (.overwrite, false), (.skip, false),
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
    func ofListsWithOneNameNothingIsAdded(verb: [String]) async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write(
            "http://h/r1/data.csv\n  out=data.csv\nhttp://h/r2/data.csv\n  out=data.csv\n", to: directory.file("list"))
        let daemon = try ScriptedDaemon { _, _ in .result([:]) }
        let result = try await Program.run(
            verb + ["-i", "list", "-d", "final", "--on-conflict", "overwrite"], daemon: daemon,
            directory: directory.path)
        #expect(result.exit == .code(3), "\(result)")
        #expect(
            result.errors.contains("line 1 (http://h/r1/data.csv) and line 3 (http://h/r2/data.csv) are both"),
            "\(result)")
        #expect(result.errors.contains("nothing was added"), "\(result)")
        #expect(daemon.calls.allSatisfy { !$0.method.hasSuffix(".add") })
    }

    @Test func namesThatTheServerMayChangeAreWarnedOf() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["ids": [1, 2], "existing": []]) }
        let result = try await Program.run(
            ["add", "-d", "/d", "--on-conflict", "overwrite", "http://h/r1/data.csv", "http://h/r2/data.csv"],
            daemon: daemon)
        #expect(result.exit == .code(0) && result.errors.contains("unless the server names them"), "\(result)")
    }
}
