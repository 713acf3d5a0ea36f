import StrictJSON
import Testing
import XferTestSupport

/// A disk that is frozen for a while (fsfreeze(8)), as for a snapshot: what is written hangs.
@Suite(
    .serialized,
    .enabled(
        if: Machine.canMount && Command.find("fsfreeze") != nil && Command.find("losetup") != nil,
        "needs to mount file systems, fsfreeze and losetup"))
struct FrozenDiskTests {
    private func freeze(_ option: String, _ disk: LoopFileSystem) async throws {
        let result = try await Command.run(try #require(Command.find("fsfreeze")), [option, disk.path])
        guard result.isSuccess else { throw TimedOut("fsfreeze \(option): \(result)") }
    }

    /// A snapshot among many small downloads: a round is caught between its intents and its end, as a rule.
    @Test func verbsReachSmallDownloadsThatAFrozenDiskHasCaught() async throws {
        let (disk, home) = (try await LoopFileSystem(megabytes: 64), try TemporaryDirectory("xfer-home"))
        let server = try await FaultServer()
        let source = SourceVersion.tagged(4, length: 2000)
        server.serve("/f", source)
        try await withDaemon(try .besides(disk.path, home)) { daemon in
            func tasks(_ names: [String]) -> JSONValue {
                .array(
                    names.map { name in
                        [
                            "url": .string(server.url("/f")), "dir": .string(disk.path), "output": .string(name),
                            "coalesce": false,
                        ]
                    })
            }
            func add(_ names: [String]) async throws -> [Int64] {
                let answer = try await daemon.call("task.add", ["tasks": tasks(names)])
                return try #require(answer["ids"]?.arrayValue).compactMap(\.integerValue)
            }
            // From now on the directory is known to take files.
            for id in try await add(["first"]) { try await daemon.complete(id) }
            let names = (0..<600).map { "\($0)" }
            let ids = try await add(names)
            try await eventually("some have their names") { try FileTree.names(in: disk.path).count > 60 }
            try await freeze("-f", disk)
            do {
                _ = try await daemon.call("task.pause", ["ids": .array(ids.map { .integer($0) })])
            } catch {
                try await freeze("-u", disk)
                throw error
            }
            try await freeze("-u", disk)
            _ = try await daemon.call("task.resume", ["ids": .array(ids.map { .integer($0) })])
            for id in ids { try expectFile(try await daemon.complete(id), is: source) }
            let found = Set(try FileTree.names(in: disk.path).filter { !$0.hasPrefix(".") })
            #expect(found == Set(names + ["first", "lost+found"]), "each file once")
        }
        try await disk.detach()
    }

    /// A snapshot freezes the disk for a while: reading goes on, and writing hangs. A small file is written by a round of
    /// its directory.
    @Test func aSmallDownloadToAFrozenDiskHoldsUpNoOther() async throws {
        let (disk, home) = (try await LoopFileSystem(megabytes: 32), try TemporaryDirectory("xfer-home"))
        let server = try await FaultServer()
        let source = SourceVersion.tagged(3, length: 5000)
        server.serve("/f", source)
        try await withDaemon(try .besides(disk.path, home)) { daemon in
            func add(_ name: String, _ directory: String) async throws -> Int64 {
                try await daemon.add(
                    server.url("/f"), ["dir": .string(directory), "output": .string(name), "coalesce": false])
            }
            // From now on the directories are known to take files.
            for directory in [disk.path, daemon.downloads] {
                try expectFile(try await daemon.complete(try await add("first", directory)), is: source)
            }
            try await freeze("-f", disk)
            let frozen = try await add("frozen", disk.path)
            do {
                try expectFile(try await daemon.complete(try await add("other", daemon.downloads)), is: source)
                try await daemon.expectWaiting(frozen, for: disk.path)
            } catch {
                try await freeze("-u", disk)
                throw error
            }
            try await freeze("-u", disk)
            try expectFile(try await daemon.complete(frozen), is: source)
            #expect(
                try FileTree.entries(below: disk.path).filter { $0.hasPrefix("f") }.sorted() == ["first", "frozen"])
        }
        try await disk.detach()
    }
}
