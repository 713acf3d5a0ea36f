import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `task.remove` with `files`: the published file goes with its task, and no other file ever does.
@Suite struct RemovedFileTests {
    private let source = SourceVersion.tagged(86, length: 50_000)

    private func downloads(_ count: Int, _ daemon: DaemonFixture, _ server: FaultServer) async throws -> [Int64] {
        server.serve("/f", source)
        var ids: [Int64] = []
        for number in 0..<count {
            ids.append(try await daemon.add(server.url("/f"), ["output": .string("f\(number)")]))
        }
        for id in ids { try await daemon.complete(id) }
        return ids
    }

    private func remove(_ ids: [Int64], _ daemon: DaemonFixture) async throws -> JSONValue {
        try await daemon.call("task.remove", ["ids": .array(ids.map { .integer($0) }), "files": true])
    }

    @Test func publishedFilesAreDeletedWithTheirTasksAndWithoutTheFieldTheyStay() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let ids = try await downloads(3, daemon, server)
            _ = try await daemon.call("task.remove", ["ids": [.integer(ids[0])]])
            let result = try await remove([ids[1], ids[2], 99], daemon)
            #expect(
                result == [
                    "changed": [.integer(ids[1]), .integer(ids[2])], "unchanged": [], "missing": [99],
                    "files": ["deleted": 2, "kept": [], "kept_count": 0],
                ])
            #expect(try FileTree.entries(below: daemon.downloads) == ["f0"])
        }
    }

    @Test(arguments: ["replaced", "changed", "appended", "touched", "directory", "link", "fifo"])
    func aFileThatIsAnotherOneByNowStaysAndIsReported(how: String) async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let id = try await downloads(1, daemon, server)[0]
            let path = daemon.downloads + "/f0"
            switch how {
            case "replaced":
                let bytes = try FileTree.read(path)
                #expect(rename(path, path + ".old") == 0)
                try FileTree.write(bytes, to: path)
            case "changed":
                let file = open(path, O_WRONLY)
                #expect(pwrite(file, "x", 1, 7) == 1 && close(file) == 0)
            case "appended":
                let file = open(path, O_WRONLY | O_APPEND)
                #expect(write(file, "x", 1) == 1 && close(file) == 0)
            case "touched": #expect(utimes(path, nil) == 0)
            case "directory": #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
            case "link": #expect(rename(path, path + ".old") == 0 && symlink(path + ".old", path) == 0)
            default: #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
            }
            let before = try FileTree.entries(below: daemon.downloads)
            let result = try await remove([id], daemon)
            #expect(result["changed"] == [.integer(id)])
            #expect(result["files"]?["kept_count"] == 1 && result["files"]?["deleted"] == 0, "\(result.text)")
            #expect(result["files"]?["kept"]?.arrayValue?.first?["path"] == .string(path))
            #expect(try FileTree.entries(below: daemon.downloads) == before)
        }
    }

    @Test func aFileThatIsGoneIsNoReasonToKeepItsTask() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let id = try await downloads(1, daemon, server)[0]
            #expect(unlink(daemon.downloads + "/f0") == 0)
            let result = try await remove([id], daemon)
            #expect(result["changed"] == [.integer(id)] && result["files"]?["kept_count"] == 0)
        }
    }

    /// The crash came after the name was changed and before the file was deleted.
    @Test(arguments: [true, false])
    func aRemovalThatACrashInterruptedIsFinishedByTheNextCall(isOwn: Bool) async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let id = try await downloads(1, daemon, server)[0]
            let path = daemon.downloads + "/f0"
            let waiting = try await daemon.add(server.url("/f"), ["output": "later", "finalize": "manual"])
            try await daemon.wait(waiting, for: "staged")
            let part = try #require(try FileTree.names(in: daemon.downloads).first { $0.hasSuffix(".part") })
            let tag = try #require(part.split(separator: "-").dropFirst().first)
            _ = try await daemon.call("task.cancel", ["ids": [.integer(waiting)]])
            try await eventually("the part is gone") { !FileTree.exists("\(daemon.downloads)/\(part)") }
            await daemon.kill9()
            let hidden = daemon.downloads + "/.xfer-removing-\(tag)-\(id)"
            #expect(rename(path, hidden) == 0)
            if !isOwn {
                #expect(unlink(hidden) == 0)
                try FileTree.write("another's", to: hidden)
            }
            try await daemon.start()
            let result = try await remove([id], daemon)
            #expect(result["changed"] == [.integer(id)] && result["files"]?["deleted"] == (isOwn ? 1 : 0))
            #expect(try FileTree.entries(below: daemon.downloads) == (isOwn ? [] : ["f0"]))
            if !isOwn { #expect(try FileTree.text(path) == "another's") }
        }
    }

    @Test(.enabled(if: Machine.canMount, "needs to mount file systems"))
    func aFileThatCannotBeDeletedKeepsItsTask() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let id = try await downloads(1, daemon, server)[0]
            let path = daemon.downloads + "/f0"
            let mount = try #require(Command.find("mount"))
            let unmount = try #require(Command.find("umount"))
            let mounted = try await Command.run(mount, ["--bind", path, path])
            try #require(mounted.isSuccess, "\(mounted)")
            let result = try await remove([id], daemon)
            _ = try await Command.run(unmount, [path])
            #expect(result["changed"] == [] && result["files"]?["kept_count"] == 1, "\(result.text)")
            #expect(result["unchanged"]?.arrayValue?.first?["reason"] == "file_kept")
            #expect(try await remove([id], daemon)["files"]?["deleted"] == 1)
        }
    }

    @Test func aFilterNeedsYesAndSaysWhatBecameOfTheFiles() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            _ = try await downloads(3, daemon, server)
            let refused = try await daemon.ctl("remove", "--state", "completed", "--files")
            #expect(refused.exit == .code(2) && refused.errors.contains("--yes"), "\(refused)")
            try FileTree.write("mine", to: daemon.downloads + "/f1")
            let done = try await daemon.ctl("rm", "--state", "completed", "--files", "--yes")
            #expect(done.exit == .code(0) && done.output.contains("2 files deleted"), "\(done)")
            #expect(done.output.contains("kept: \(daemon.downloads)/f1"), "\(done)")
            #expect(try FileTree.entries(below: daemon.downloads) == ["f1"])
        }
    }

    @Test func aCancelledTaskThatIsRetriedBeginsAtItsFirstByteInItsSlot() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/f", source).next([.stall(at: 20_000, until: gate)])
        server.serve("/g", source).next([.stall(at: 20_000, until: gate)])
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/f"), ["slot": "place", "output": "f"])
            try await daemon.waitForBytes(20_000, of: id)
            let dependent = try await daemon.add(server.url("/h"), ["after": [.integer(id)]])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            #expect(try await daemon.finish(dependent).errorReason == "dependency_failed")
            let other = try await daemon.add(server.url("/g"), ["slot": "place", "output": "g"])
            let retried = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            #expect(retried["changed"] == [.integer(id)], "\(retried.text)")
            #expect(try await daemon.finish(other).state == "cancelled")
            gate.open()
            let view = try await daemon.complete(id)
            #expect(try source.equals(file: try #require(view.finalPath)))
            #expect(server.requests(to: "/f").last?.headers.firstValue(named: "Range") == nil)
            #expect(try await daemon.ctl("retry", "\(id)").output.contains("unchanged"))
            try await eventually("partial files are gone") { try FileTree.entries(below: daemon.downloads) == ["f"] }
        }
    }

    @Test func aCancelledTaskWhoseSpooledSourceIsDeletedCannotBeRetried() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let path = daemon.downloads + "/sent"
            try FileTree.write("bytes", to: path)
            let id = try await daemon.add(
                server.url("/up"), ["kind": "upload", "source": .string(path), "spool": true, "paused": true])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            let result = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            #expect(
                result["unchanged"] == [["id": .integer(id), "state": "cancelled", "reason": "source_deleted"]],
                "\(result.text)")
        }
    }
}
