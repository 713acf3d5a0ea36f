import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `task.update` of a directory: the bytes that a task has kept go with it, whatever happens meanwhile.
@Suite struct MovedBytesTests {
    private let source = SourceVersion.tagged(87, length: 3_000_000)

    private func parts(in directory: String) throws -> [String] {
        try FileTree.names(in: directory).filter { $0.hasSuffix(".part") }
    }

    /// A paused task that has kept bytes, in the download directory.
    private func pausedTask(
        _ daemon: DaemonFixture, _ server: FaultServer, gate: Gate, at offset: Int64 = 2_000_000
    ) async throws -> Int64 {
        server.serve("/f", source).next([.stall(at: offset, until: gate)])
        let id = try await daemon.add(server.url("/f"), ["output": "f"])
        try await daemon.waitForBytes(offset, of: id)
        _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
        try await daemon.wait(id, for: "paused")
        return id
    }

    private func move(_ id: Int64, to directory: String, _ daemon: DaemonFixture) async throws -> JSONValue {
        try await daemon.call("task.update", ["id": .integer(id), "changes": ["dir": .string(directory)]])
    }

    private func completes(_ id: Int64, in directory: String, _ daemon: DaemonFixture, _ server: FaultServer)
        async throws
    {
        _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
        let view = try await daemon.complete(id)
        #expect(view.finalPath == directory + "/f")
        #expect(try source.equals(file: directory + "/f"))
        #expect(server.requests(to: "/f").last?.headers.firstValue(named: "Range") == "bytes=2000000-")
    }

    @Test func keptBytesGoWithAPausedTaskIntoAnotherDirectoryAndFileSystem() async throws {
        let server = try await FaultServer()
        let memory = try TemporaryDirectory("xfer", in: "/dev/shm")
        var options = DaemonFixture.Options()
        let downloads = try TemporaryDirectory()
        options.downloads = downloads.path
        options.settings = ["download": ["roots": "[\"\(downloads.path)\", \"\(memory.path)\"]"]]
        try await withDaemon(options) { daemon in
            let gate = Gate()
            let id = try await pausedTask(daemon, server, gate: gate)
            let near = downloads.file("near")
            #expect(mkdir(near, 0o700) == 0)
            for (from, to) in [
                (downloads.path, near), (near, memory.path), (memory.path, downloads.path), (downloads.path, near),
            ] {
                let result = try await move(id, to: to, daemon)
                #expect(result["task"]?["progress"]?["received"] == 2_000_000, "\(result.text)")
                #expect(try parts(in: from).isEmpty && (try parts(in: to).count == 1))
            }
            gate.open()
            try await completes(id, in: near, daemon, server)
            #expect(try FileTree.names(in: downloads.path) == ["near"])
            #expect(try FileTree.names(in: near) == ["f"])
        }
    }

    @Test func aFailedTaskIsChangedAndRetriedWithTheBytesItHas() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let source = server.serve("/f", self.source)
            source.next([.drop(after: 2_000_000)])
            let id = try await daemon.add(server.url("/f"), ["output": "f", "max_retries": 0])
            #expect(try await daemon.finish(id).state == "failed")
            let near = daemon.downloads + "/near"
            #expect(mkdir(near, 0o700) == 0)
            let changes: JSONValue = [
                "dir": .string(near), "headers": ["X-A": "b"], "max_retries": 2,
                "credential": ["user": "u", "password": "p"],
            ]
            _ = try await daemon.call("task.update", ["id": .integer(id), "changes": changes])
            #expect(try parts(in: near).count == 1)
            _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            let view = try await daemon.complete(id)
            #expect(view.finalPath == near + "/f")
            #expect(try self.source.equals(file: near + "/f"))
            let last = try #require(server.requests(to: "/f").last)
            #expect(last.headers.firstValue(named: "X-A") == "b")
            #expect(last.headers.firstValue(named: "Authorization") == "Basic dTpw")
        }
    }

    @Test func aDirectoryThatCannotBeUsedLeavesTaskAndBytesAsTheyWere() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        try await withDaemon { daemon in
            let id = try await pausedTask(daemon, server, gate: gate)
            try FileTree.write("x", to: daemon.downloads + "/file")
            for wrong in ["/nowhere", daemon.downloads + "/file"] {
                #expect(
                    try await daemon.refusal(
                        "task.update", ["id": .integer(id), "changes": ["dir": .string(wrong)]]) != nil)
            }
            #expect(try parts(in: daemon.downloads).count == 1)
            gate.open()
            try await completes(id, in: daemon.downloads, daemon, server)
        }
    }

    /// One call at a time moves the bytes; the others are refused or find the task where they want it.
    @Test func callsAtOnceLeaveTheBytesInTheDirectoryThatTheTaskNames() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        try await withDaemon { daemon in
            let id = try await pausedTask(daemon, server, gate: gate)
            let targets = (0..<3).map { daemon.downloads + "/\($0)" }
            for target in targets { #expect(mkdir(target, 0o700) == 0) }
            for _ in 0..<5 {
                let moved = await withTaskGroup(of: Bool.self) { group in
                    for target in targets { group.addTask { (try? await move(id, to: target, daemon)) != nil } }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(moved > 0)
                let place = try #require(try await daemon.task(id)["dir"]?.stringValue)
                for target in targets { #expect(try parts(in: target).count == (target == place ? 1 : 0)) }
            }
            let place = try #require(try await daemon.task(id)["dir"]?.stringValue)
            gate.open()
            try await completes(id, in: place, daemon, server)
        }
    }

    /// The daemon is killed while it moves the bytes: they are in one of the two directories, and what the other has is
    /// removed by the next start.
    @Test func bytesSurviveAKillAtAnyMomentOfTheMove() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        try await withDaemon { daemon in
            let id = try await pausedTask(daemon, server, gate: gate)
            let near = daemon.downloads + "/near"
            #expect(mkdir(near, 0o700) == 0)
            // A first move waits for the run, which records its last bytes only after the pause is answered.
            _ = try await move(id, to: near, daemon)
            var place = near
            for round in stride(from: 0, to: 12, by: Campaign.isSoak ? 1 : 4) {
                let target = place == near ? daemon.downloads : near
                async let moved: JSONValue? = try? move(id, to: target, daemon)
                try await Campaign.elapse(.microseconds(300 * round * round))
                await daemon.kill9()
                _ = await moved
                try await daemon.start()
                place = try #require(try await daemon.task(id)["dir"]?.stringValue)
                #expect(try await daemon.view(id).received == 2_000_000, "in round \(round)")
                let other = place == near ? daemon.downloads : near
                try await eventually("the other directory is swept") { try parts(in: other).isEmpty }
                #expect(try parts(in: place).count == 1)
            }
            gate.open()
            try await completes(id, in: place, daemon, server)
        }
    }
}
