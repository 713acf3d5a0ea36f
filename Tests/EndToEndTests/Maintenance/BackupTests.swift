import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// `xferctl backup` and `xferd --restore` of a daemon that works.
@Suite struct BackupTests {
    private func restore(_ file: String, into daemon: DaemonFixture) async throws -> Command.Result {
        try await Command.run(
            "\(try Command.productsDirectory)/xferd",
            ["--restore", file, "--config", daemon.configurationFile, "--state-dir", daemon.stateDirectory],
            environment: daemon.environment)
    }

    @Test func aRestoredDaemonGoesOnWithDownloadsAndRepeatsNoRequest() async throws {
        try await withDaemon { daemon in
            let server = try await FaultServer()
            let gate = Gate()
            server.serve("/f", .tagged(7, length: 900_000)).always(.stall(at: 600_000, until: gate))
            server.serve("/done", .tagged(9, length: 1000))
            let done = try await daemon.add(server.url("/done"))
            try await daemon.wait(done, for: "completed")
            let running = try await daemon.add(server.url("/f"))
            let post = try await daemon.add(
                "http://127.0.0.1:9/", ["kind": "data", "method": "POST", "body": ["raw": "x"], "paused": true])
            let get = try await daemon.add("http://127.0.0.1:9/", ["kind": "data", "paused": true])
            try await daemon.waitForBytes(600_000, of: running)

            let file = daemon.directory.file("monday.backup")
            let result = try await daemon.ctl("backup", file)
            #expect(result.isSuccess && result.output.contains(file), "\(result)")
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let again = try await daemon.ctl("backup", file)
            #expect(again.exit == .code(3) && again.errors.contains("exists"), "\(again)")

            let former = try await daemon.call("daemon.status")
            let lost = try await daemon.add(server.url("/lost"), ["paused": true])
            let lastSeq = try #require(try await daemon.events().compactMap { $0["seq"]?.integerValue }.max())
            try await daemon.stop()

            let restored = try await restore(file, into: daemon)
            #expect(restored.isSuccess && restored.output.contains("4 tasks are restored"), "\(restored)")
            gate.open()
            try await daemon.start()
            let status2 = try await daemon.call("daemon.status")
            #expect(status2["store_id"] != former["store_id"])
            try await daemon.wait(running, for: "completed")
            #expect(try await daemon.task(done)["state"] == "completed")
            #expect(try await daemon.task(get)["state"] == "paused")
            let failed = try await daemon.task(post)
            #expect(failed["state"] == "failed" && failed["error"]?["reason"] == "outcome_unknown", "\(failed.text)")
            let newer = try await daemon.add(server.url("/new"), ["paused": true])
            #expect(newer > lost + 1000)
            let failure = try await daemon.events(of: post, types: "task.failed")
            #expect(failure.count == 1 && failure[0]["seq"]?.integerValue ?? 0 > lastSeq, "\(failure)")

            // What was settled once is not settled again.
            let later = try await daemon.add(
                "http://127.0.0.1:9/", ["kind": "data", "method": "POST", "body": ["raw": "x"], "paused": true])
            await daemon.kill9()
            try await daemon.start()
            #expect(try await daemon.task(later)["state"] == "paused")
        }
    }

    @Test func partialFilesThatAreMissingOrNewerThanTheBackupAreFetchedAnew() async throws {
        try await withDaemon { daemon in
            let server = try await FaultServer()
            let gate = Gate()
            for name in ["missing", "newer"] {
                server.serve("/\(name)", .tagged(3, length: 500_000)).always(.stall(at: 300_000, until: gate))
            }
            let missing = try await daemon.add(server.url("/missing"), ["output": "missing"])
            try await daemon.waitForBytes(300_000, of: missing)
            let firstPart = try #require(try daemon.downloaded.first { $0.hasSuffix(".part") })
            let newer = try await daemon.add(server.url("/newer"), ["output": "newer"])
            try await daemon.waitForBytes(300_000, of: newer)
            let file = daemon.directory.file("early.backup")
            #expect(try await daemon.ctl("backup", file).isSuccess)
            await daemon.kill9()
            let parts = try daemon.downloaded.filter { $0.hasSuffix(".part") }
            #expect(parts.count == 2)
            for part in parts {
                let path = "\(daemon.downloads)/\(part)"
                if part == firstPart { unlink(path) } else { try FileTree.write("another's bytes", to: path) }
            }
            #expect(try await restore(file, into: daemon).isSuccess)
            gate.open()
            try await daemon.start()
            for (id, name) in [(missing, "missing"), (newer, "newer")] {
                try await daemon.wait(id, for: "completed")
                let bytes = try FileTree.read("\(daemon.downloads)/\(name)")
                #expect(bytes == SourceVersion.tagged(3, length: 500_000).bytes)
            }
        }
    }

    /// As on another machine, where files have other inode numbers and no database is replaced.
    @Test func aMovedDownloadContinuesACopyOfItsPartialFile() async throws {
        try await withDaemon { daemon in
            let server = try await FaultServer()
            let (gate, source) = (Gate(), SourceVersion.tagged(5, length: 500_000))
            server.serve("/f", source).always(.stall(at: 300_000, until: gate))
            let id = try await daemon.add(server.url("/f"), ["output": "f"])
            try await daemon.waitForBytes(300_000, of: id)
            #expect(try await daemon.ctl("pause", "\(id)").isSuccess)
            try await daemon.wait(id, for: "paused")
            let file = daemon.directory.file("moved.backup")
            #expect(try await daemon.ctl("backup", file).isSuccess)
            try await daemon.stop()
            gate.open()
            let part = "\(daemon.downloads)/\(try #require(try daemon.downloaded.first { $0.hasSuffix(".part") }))"
            #expect(try await Command.run("/bin/cp", ["-p", part, part + ".copy"]).isSuccess)
            #expect(rename(part + ".copy", part) == 0)
            for suffix in ["", "-wal", "-shm"] { unlink("\(daemon.stateDirectory)/xferd.sqlite\(suffix)") }
            #expect(try await restore(file, into: daemon).isSuccess)
            server.serve("/f", source)
            try await daemon.start()
            #expect(try await daemon.ctl("resume", "\(id)").isSuccess)
            try await daemon.wait(id, for: "completed")
            #expect(server.requests.last?.header("Range") != nil)
            #expect(try source.equals(file: "\(daemon.downloads)/f"))
        }
    }

    @Test func aRestoreBesideARunningDaemonOrOfARefusedFileChangesNothing() async throws {
        try await withDaemon { daemon in
            let file = daemon.directory.file("a.backup")
            #expect(try await daemon.ctl("backup", file).isSuccess)
            let beside = try await restore(file, into: daemon)
            #expect(beside.exit == .code(1) && beside.errors.contains("another daemon"), "\(beside)")
            let before = try await daemon.call("daemon.status")["store_id"]
            try await daemon.stop()
            try FileTree.write("nothing", to: daemon.directory.file("b.backup"))
            let refused = try await restore(daemon.directory.file("b.backup"), into: daemon)
            #expect(refused.exit == .code(1) && !refused.errors.isEmpty, "\(refused)")
            try await daemon.start()
            #expect(try await daemon.call("daemon.status")["store_id"] == before)
        }
    }

    @Test func aBackupGoesOnlyWhereNothingIs() async throws {
        try await withDaemon { daemon in
            let taken = daemon.directory.file("taken")
            try FileTree.write("mine", to: taken)
            let link = daemon.directory.file("link")
            #expect(symlink(daemon.directory.file("elsewhere"), link) == 0)
            for path in [taken, link, daemon.directory.file("no/such/directory"), "relative"] {
                let answer = try await daemon.post("daemon.backup", ["file": .string(path)])
                #expect(answer["error"]?["data"]?["path"] == "file", "\(answer.text)")
            }
            #expect(try FileTree.text(taken) == "mine" && !FileTree.exists(daemon.directory.file("elsewhere")))
            #expect(try FileTree.names(in: daemon.stateDirectory).allSatisfy { !$0.contains("partial") })
        }
    }
}
