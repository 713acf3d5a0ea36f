import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

@Suite struct VerifyTests {
    private func verdict(_ state: TaskState, path: String?, checksum: Checksum?, has hex: String?) -> FileVerdict {
        var record = TaskRecord()
        (record.id, record.state, record.finalPath, record.checksum) = (
            TaskID(7), .known(state), path, checksum?.description
        )
        return FileVerdict(record) { _, _ in hex.map { .computed($0) } ?? .missing }
    }

    @Test func aFileIsComparedWithTheDigestOfItsTask() throws {
        let hex = String(repeating: "a", count: 64)
        let checksum = try Checksum(parsing: hex)
        let right = verdict(.completed, path: "/d/f", checksum: checksum, has: hex)
        #expect(right.line == "#7 /d/f: right" && !right.isProblem)
        let other = verdict(.completed, path: "/d/f", checksum: checksum, has: "bb")
        #expect(other.line == "#7 /d/f: differs: the file has sha-256=bb, expected sha-256=\(hex)" && other.isProblem)
        let gone = verdict(.completed, path: "/d/f", checksum: checksum, has: nil)
        #expect(gone.line == "#7 /d/f: gone: no such file" && gone.isProblem)
        #expect(FileVerdict.summary([right, gone, right, other]) == "4 files: 2 right, 1 differs (#7), 1 gone (#7)")
        let unknown = verdict(.completed, path: "/d/f", checksum: nil, has: nil)
        #expect(unknown.line.contains("without a checksum") && !unknown.isProblem)
        #expect(verdict(.failed, path: nil, checksum: checksum, has: nil).line == "#7 has published no file")
    }

    /// A hook's file has other bytes than those that the task demanded.
    @Test func theDigestOfThePublishedFileComesBeforeTheDemandedOne() throws {
        var record = TaskRecord()
        (record.id, record.state, record.finalPath) = (TaskID(7), .known(.completed), "/d/f")
        let hex = String(repeating: "a", count: 64)
        record.checksum = "sha-256=\(hex)"
        record.completion.postProcess = .set("unpack")
        #expect(FileVerdict(record) { _, _ in .computed(hex) }.result == .unrecorded)
        let digest = "sha-256=" + String(repeating: "b", count: 64)
        record.digest = digest
        #expect(FileVerdict(record) { _, _ in .computed(hex) }.result == .differs(found: hex, expected: digest))
        (record.digest, record.checksum, record.skipped) = (nil, nil, true)
        #expect(FileVerdict(record) { _, _ in .computed(hex) }.result == .unknown)
        record.skipped = nil
        record.digest = digest
        #expect(FileVerdict(record) { _, _ in .unreadable("Is a directory") }.result == .unreadable("Is a directory"))
    }

    @Test func theFirstVerificationOfAFileWithoutADigestRecordsIt() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("abc")
        try FileTree.write("abc", to: path)
        let digest = "sha-256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let task: JSONValue = ["id": 7, "state": "completed", "final_path": .string(path)]
        let daemon = try ScriptedDaemon { method, _ in
            .result(method == "task.get" ? ["task": task] : ["digest": .string(digest)])
        }
        let one = try await Program.run(["verify", "7"], daemon: daemon, directory: directory.path)
        #expect(
            one.exit == .code(0) && one.output == "#7 \(path): not compared before; recorded \(digest)\n", "\(one)")
        #expect(daemon.calls(of: "task.record_digest") == [["id": 7, "digest": .string(digest)]])
    }

    /// FIPS 180-2 and RFC 1321 have these for "abc".
    @Test func digestsAreThoseOfTheStandards() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a\\b c")
        try FileTree.write("abc", to: path)
        #expect(
            FileVerdict.digest(path, .sha256)
                == .computed("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(FileVerdict.digest(path, .md5) == .computed("900150983cd24fb0d6963f7d28e17f72"))
        #expect(FileVerdict.digest(directory.file("none"), .sha1) == .missing)
        #expect(FileVerdict.digest(path + "/below", .sha1) == .missing)
        #expect(FileVerdict.digest(directory.path, .sha1) == .unreadable("Is a directory"))
    }

    @Test func aCountOfFilesEndsAtItsBoundsAndSaysSo() throws {
        let directory = try TemporaryDirectory()
        for name in ["a", "b", "c"] { try FileTree.write("abc", to: directory.file(name)) }
        func count(_ mostNames: Int, within limit: Duration = .seconds(3600)) -> DirectoryFiles.Count {
            DirectoryFiles.count(beneath: directory.path + "/", mostNames: mostNames, within: limit) { _ in true }
        }
        #expect(count(2) == DirectoryFiles.Count(files: 2, isComplete: false))
        #expect(count(3) == DirectoryFiles.Count(files: 3, isComplete: true))
        #expect(count(9, within: .seconds(-1)) == DirectoryFiles.Count(files: 0, isComplete: false))
        var sum = DirectoryFiles.Count()
        for most in [2, 9] { sum += count(most) }
        #expect(sum == DirectoryFiles.Count(files: 5, isComplete: false))
        let note = VerifyCommand.note(sum)
        #expect(note.hasPrefix("at least 5 files here have no record") && note.contains("1000000 names or 30 seconds"))
    }

    /// A task without a checksum published the file again later, and another file is unknown.
    @Test func aFileIsVerifiedByTheLastTaskThatDemandedADigestOfIt() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("abc")
        try FileTree.write("abc", to: path)
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let demanding: JSONObject = [
            "id": 7, "state": "completed", "final_path": .string(path), "checksum": .string("sha-256=\(digest)"),
        ]
        let daemon = try ScriptedDaemon { method, _ in
            method == "task.get"
                ? .result(["task": .object(demanding)])
                : .result([
                    "tasks": [
                        ["id": 9, "state": "completed", "final_path": .string(path)], .object(demanding),
                        ["id": 6, "state": "completed", "final_path": "/elsewhere", "checksum": "md5=00"],
                    ], "next_cursor": nil,
                ])
        }
        let one = try await Program.run(["verify", "abc"], daemon: daemon, directory: directory.path)
        #expect(one.exit == .code(0) && one.output == "#7 \(path): right\n", "\(one)")
        #expect(daemon.calls(of: "task.get").map { $0["id"] } == [7])
        let two = try await Program.run(["verify", "abc", "./8"], daemon: daemon, directory: directory.path)
        #expect(two.exit == .code(3), "\(two)")
        #expect(two.errors.contains("no completed task published ./8: there is no such file"), "\(two)")
        #expect(two.output == "#7 \(path): right\n")
    }

    @Test func ofADirectoryAllFilesBeneathItAreVerifiedInTheirOrder() async throws {
        let directory = try TemporaryDirectory()
        let data = try directory.makeDirectory("data")
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        func task(_ id: Int64, _ path: String) -> JSONValue {
            [
                "id": .integer(id), "state": "completed", "final_path": .string(path),
                "checksum": .string("sha-256=\(digest)"),
            ]
        }
        let tasks = [task(9, "\(data)/b"), task(8, "\(data)-other/b"), task(7, "\(data)/a"), task(6, "\(data)/b")]
        for name in ["a", "b"] { try FileTree.write("abc", to: "\(data)/\(name)") }
        let daemon = try ScriptedDaemon { method, params in
            method == "task.get"
                ? .result(["task": tasks.first { $0["id"] == params["id"] } ?? .null])
                : .result(["tasks": .array(tasks), "next_cursor": nil])
        }
        let one = try await Program.run(["verify", "data/"], daemon: daemon, directory: directory.path)
        let lines = "#7 \(data)/a: right\n#9 \(data)/b: right\n2 files: 2 right\n"
        #expect(one.exit == .code(0) && one.output == lines && one.errors.isEmpty, "\(one)")
        // No task knows these; hidden files and links are no published ones.
        try FileTree.write("abc", to: "\(data)/c")
        try FileTree.write("abc", to: "\(try directory.makeDirectory("data/below"))/a")
        try FileTree.write("abc", to: "\(data)/.hidden")
        let more = try await Program.run(["verify", "data"], daemon: daemon, directory: directory.path)
        #expect(more.exit == .code(0) && more.output == lines, "\(more)")
        #expect(more.errors.contains("2 files here have no record and were not verified"), "\(more)")
        #expect(more.errors.contains("history.max_age") && more.errors.contains("--checksums"), "\(more)")
        let empty = try directory.makeDirectory("none")
        let none = try await Program.run(["verify", "."], daemon: daemon, directory: empty)
        #expect(none.exit == .code(3) && none.errors.contains("no completed task published ."), "\(none)")
        #expect(none.errors.contains("history.max_age"), "\(none)")
    }
}
