import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// AvoidAutoSetImage: the file appears when the client says so.
@Suite struct StagingTests {
    private func stage(
        _ url: String, _ daemon: DaemonFixture, _ fields: JSONObject = [:]
    ) async throws -> Int64 {
        var fields = fields
        fields["finalize"] = "manual"
        let id = try await daemon.add(url, fields)
        try await daemon.wait(id, for: "staged")
        return id
    }

    private func commit(_ ids: Int64..., on daemon: DaemonFixture) async throws -> JSONValue {
        try await daemon.call("task.commit", ["ids": .array(ids.map { .integer($0) })])
    }

    @Test func aStagedFileAppearsWhenItIsCommitted() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(400, length: 300_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            let checksum = JSONValue.string(source.checksum().description)
            let id = try await stage(server.url("/f"), daemon, ["checksum": checksum, "slot": "s", "mode": "0600"])
            #expect(try daemon.downloaded.filter { !$0.hasPrefix(".xfer-") } == [])
            #expect(try await daemon.call("slot.get", ["slot": "s"])["task"]?["id"] == .integer(id))
            let waited = try await daemon.call("task.wait", ["ids": [.integer(id)]])
            #expect(waited["timed_out"] == false)
            #expect(try await daemon.call("queue.stats")["counts"]?["staged"] == 1)
            let staged = try await daemon.events(of: id).last
            #expect(staged?["type"] == "task.staged" && staged?["size"] == 300_000 && staged?["state"] == "staged")
            #expect(staged?["terminal"] == nil)
            for verb in ["pause", "resume", "retry", "remove"] {
                let result = try await daemon.call("task.\(verb)", ["ids": [.integer(id)]])
                #expect(result["unchanged"]?.arrayValue?.first?["state"] == "staged", "\(verb): \(result.text)")
            }
            let result = try await daemon.call("task.commit", ["ids": [.integer(id), 4711]])
            #expect(result == ["changed": [.integer(id)], "unchanged": [], "missing": [4711]])
            let view = try await daemon.view(id)
            #expect(view.state == "completed" && view.finalPath == "\(daemon.downloads)/f")
            try expectFile(view, is: source)
            #expect(FileTree.mode("\(daemon.downloads)/f").map { $0 & 0o777 } == 0o600)
            try await daemon.expectDownloads(["f"])
            #expect(try await daemon.call("slot.get", ["slot": "s"])["task"] == .null)
            // Twice is once.
            let again = try await commit(id, on: daemon)
            #expect(again["changed"] == [] && again["unchanged"]?.arrayValue?.first?["state"] == "completed")
            #expect(try await daemon.events(of: id, types: "task.completed").count == 1)
        }
    }

    @Test func stagedBytesSurviveARestartAndNeedNoServer() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(401, length: 200_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            let id = try await stage(server.url("/f"), daemon)
            await daemon.kill9()
            try await daemon.start()
            #expect(try await daemon.view(id).state == "staged")
            try await daemon.stop()
            try await daemon.start()
            await server.stop()
            let ended = try await daemon.ctl("commit", "\(id)")
            #expect(ended.isSuccess && ended.output == "committed: #\(id)\n", "\(ended)")
            try expectFile(try await daemon.view(id), is: source)
        }
    }

    @Test func aCommitUnderATakenNameLeavesTheTaskStaged() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(402, length: 100_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            let id = try await stage(server.url("/f"), daemon, ["on_conflict": "fail"])
            let other = try await stage(server.url("/f"), daemon, ["output": "free"])
            try FileTree.write("mine", to: "\(daemon.downloads)/f")
            let refusal = await #expect(throws: RPCRefusal.self) { try await commit(other, id, on: daemon) }
            #expect(
                refusal?.code == -32005 && refusal?.reason == "destination_exists", "\(String(describing: refusal))")
            #expect(refusal?.data["task_id"] == .integer(id) && refusal?.data["state"] == "staged")
            // All were checked before the first got its name.
            for id in [id, other] { #expect(try await daemon.view(id).state == "staged") }
            #expect(try FileTree.text("\(daemon.downloads)/f") == "mine")
            let shown = try await daemon.ctl("commit", "\(id)")
            #expect(shown.exit == .code(3) && shown.errors.contains("exists"), "\(shown)")

            let changed = try await daemon.ctl("update", "\(id)", "--output", "g")
            #expect(changed.isSuccess, "\(changed)")
            let counted = try await daemon.call("task.commit", ["filter": ["state": "staged"]])
            #expect(counted == ["changed_count": 2, "unchanged_count": 0])
            for name in ["g", "free"] { #expect(try source.equals(file: "\(daemon.downloads)/\(name)")) }
            try await daemon.expectDownloads(["f", "free", "g"])
        }
    }

    @Test func theConflictPolicyAppliesAtTheCommit() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(403, length: 60_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            var ids: [String: Int64] = [:]
            for policy in ["rename", "overwrite", "skip"] {
                ids[policy] = try await stage(
                    server.url("/f"), daemon, ["on_conflict": .string(policy), "output": .string("\(policy).bin")])
                try FileTree.write("mine", to: "\(daemon.downloads)/\(policy).bin")
            }
            for id in ids.values { _ = try await commit(id, on: daemon) }
            let skipped = try await daemon.task(try #require(ids["skip"]))
            #expect(skipped["state"] == "completed" && skipped["skipped"] == true)
            #expect(try FileTree.text("\(daemon.downloads)/skip.bin") == "mine")
            #expect(try source.equals(file: "\(daemon.downloads)/overwrite.bin"))
            #expect(try source.equals(file: "\(daemon.downloads)/rename (1).bin"))
            try await daemon.expectDownloads(["overwrite.bin", "rename (1).bin", "rename.bin", "skip.bin"])
        }
    }

    @Test func cancelDeletesStagedBytes() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(404, length: 60_000))
        try await withDaemon { daemon in
            let id = try await stage(server.url("/f"), daemon)
            let superseded = try await stage(server.url("/f"), daemon, ["slot": "s"])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            let newcomer = try await daemon.add(server.url("/f"), ["slot": "s", "paused": true])
            try await daemon.expectDownloads([])
            #expect(try await daemon.view(superseded).state == "cancelled")
            #expect(try await commit(id, on: daemon)["unchanged"]?.arrayValue?.first?["state"] == "cancelled")
            _ = try await daemon.call("task.cancel", ["ids": [.integer(newcomer)]])
        }
    }

    @Test func aStagedFileThatWasTouchedIsVerifiedAgainAtTheCommit() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(405, length: 60_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            let id = try await stage(server.url("/f"), daemon)
            let name = try #require(try daemon.downloaded.first)
            let path = "\(daemon.downloads)/\(name)"
            var bytes = try FileTree.read(path)
            bytes[1000] ^= 1
            try FileTree.write(bytes, to: path)
            for (change, reason) in [(0, "checksum_mismatch"), (1, "length_mismatch")] {
                if change == 1 { try FileTree.write(bytes + [0], to: path) }
                let refusal = await #expect(throws: RPCRefusal.self) { try await commit(id, on: daemon) }
                #expect(refusal?.code == -32005 && refusal?.reason == reason, "\(String(describing: refusal))")
                #expect(try await daemon.view(id).state == "staged")
            }
            // Written again as it was: the digest says that it is the same.
            bytes[1000] ^= 1
            truncate(path, 0)
            try FileTree.write(bytes, to: path)
            #expect(try await commit(id, on: daemon)["changed"] == [.integer(id)])
            try expectFile(try await daemon.view(id), is: source)

            let lost = try await stage(server.url("/f"), daemon, ["output": "lost"])
            for name in try daemon.downloaded where name.hasPrefix(".xfer") {
                FileTree.remove("\(daemon.downloads)/\(name)")
            }
            let refusal = await #expect(throws: RPCRefusal.self) { try await commit(lost, on: daemon) }
            #expect(refusal?.code == -32005 && refusal?.reason == "file_move_failed")
        }
    }

    @Test func aCommitRacingACancelHasOneWinner() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(406, length: 3000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            var wins = [0, 0]
            for round in 0..<Campaign.rounds(40) {
                let id = try await stage(server.url("/f"), daemon, ["output": .string("f\(round)")])
                let (first, second) = (try daemon.session(), try daemon.session())
                let ids: JSONValue = ["ids": [.integer(id)]]
                async let committed = first.call("task.commit", ids)
                async let cancelled = second.call("task.cancel", ids)
                let (commit, cancel) = try await (committed, cancelled)
                let isCommitted = commit["changed"] == [.integer(id)]
                #expect(isCommitted != (cancel["changed"] == [.integer(id)]), "\(commit.text) \(cancel.text)")
                wins[isCommitted ? 0 : 1] += 1
                let view = try await daemon.view(id)
                #expect(view.state == (isCommitted ? "completed" : "cancelled"))
                try await eventually("the file is there or not") {
                    FileTree.exists("\(daemon.downloads)/f\(round)") == isCommitted
                }
                #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
            }
            try await eventually("no bytes are left over") { try daemon.downloaded.count == wins[0] }
        }
    }

    @Test func concurrentCommitsOfOneTaskPublishOnce() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(407, length: 3000))
        try await withDaemon { daemon in
            let first = try await stage(server.url("/f"), daemon, ["output": "a"])
            let second = try await stage(server.url("/f"), daemon, ["output": "b"])
            let changed = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<16 {
                    let ids: JSONValue =
                        index % 2 == 0 ? [.integer(first), .integer(second)] : [.integer(second), .integer(first)]
                    group.addTask {
                        try await daemon.call("task.commit", ["ids": ids])["changed"]?.arrayValue?.count ?? 0
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(changed == 2)
            try await daemon.expectDownloads(["a", "b"])
        }
    }

    /// Killed at any point of a commit: the file is there, or the task is still staged; never both, never neither.
    @Test func aTaskKilledDuringItsCommitIsEitherPublishedOrStillStaged() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(408, length: 20_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            var outcomes = [0, 0]
            var rounds = 0
            var random = SplitMix64(seed: 408)
            // Goes on until both outcomes were seen: how long a commit takes depends on the machine.
            let most = 30
            for round in 0..<most {
                if round >= Campaign.rounds(most), outcomes[0] > 0, outcomes[1] > 0 { break }
                rounds += 1
                var ids: [Int64] = []
                for index in 0..<3 {
                    ids.append(try await stage(server.url("/f"), daemon, ["output": .string("f\(round)-\(index)")]))
                }
                let session = try daemon.session()
                let params: JSONValue = ["ids": .array(ids.map { .integer($0) })]
                let call = Task { try? await session.call("task.commit", params) }
                // Later and later while all kills came too early, sooner and sooner while all came too late.
                let longest =
                    outcomes[1] == 0
                    ? 12_000 << (round / 5) : outcomes[0] == 0 ? max(50, 12_000 >> (round / 2)) : 12_000
                try await Campaign.elapse(.microseconds(Int.random(in: 0..<longest, using: &random)))
                await daemon.kill9()
                _ = await call.value
                try await daemon.start()
                for (index, id) in ids.enumerated() {
                    let state = try await daemon.view(id).state
                    let path = "\(daemon.downloads)/f\(round)-\(index)"
                    #expect(state == "completed" || state == "staged")
                    #expect(FileTree.exists(path) == (state == "completed"), "\(id) is \(state)")
                    outcomes[state == "completed" ? 1 : 0] += 1
                    if state == "staged" { #expect(try await commit(id, on: daemon)["changed"] == [.integer(id)]) }
                    #expect(try source.equals(file: path))
                    #expect(try await daemon.events(of: id, types: "task.completed").count == 1)
                }
            }
            try await eventually("nothing else is left") { try daemon.downloaded.count == 3 * rounds }
            #expect(outcomes[0] > 0 && outcomes[1] > 0, "\(outcomes): the kills came all too early or all too late")
        }
    }

    @Test(.enabled(if: Machine.canMount, "needs to mount file systems"))
    func aCommitToAFullDiskLeavesTheTaskStaged() async throws {
        let disk = try await LoopFileSystem(megabytes: 16)
        var options = DaemonFixture.Options()
        options.downloads = disk.path
        do {
            let server = try await FaultServer()
            let source = SourceVersion.tagged(409, length: 100_000)
            server.serve("/f", source)
            try await withDaemon(options) { daemon in
                // A directory that has no room for another entry of this length, on a disk that has none for it to grow.
                let name = String(repeating: "n", count: 250)
                let id = try await stage(server.url("/f"), daemon, ["output": .string(name)])
                fill(disk.path)
                var failures = 0
                for index in 0..<4000 where failures < 300 {
                    let long = String(repeating: "x", count: 246) + String(1000 + index)
                    let made = open("\(disk.path)/\(long)", O_WRONLY | O_CREAT, 0o600)
                    failures = made < 0 ? failures + 1 : 0
                    close(made)
                }
                try #require(failures == 300)
                let refusal = await #expect(throws: RPCRefusal.self) { try await commit(id, on: daemon) }
                #expect(
                    refusal?.code == -32005 && refusal?.reason == "insufficient_space", "\(String(describing: refusal))"
                )
                #expect(try await daemon.view(id).state == "staged")
                for file in try FileTree.names(in: disk.path) where !file.hasPrefix(".xfer") && file != "lost+found" {
                    FileTree.remove("\(disk.path)/\(file)")
                }
                #expect(try await commit(id, on: daemon)["changed"] == [.integer(id)])
                #expect(try source.equals(file: "\(disk.path)/\(name)"))
            }
        } catch {
            try? await disk.detach()
            throw error
        }
        try await disk.detach()
    }

    /// Writes until not a byte fits any more.
    private func fill(_ path: String) {
        let descriptor = open("\(path)/filler", O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        var size = 1 << 20
        while size > 0 {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(descriptor, bytes, size) == size {}
            size /= 2
        }
        fsync(descriptor)
    }

    @Test func aHookRunsBeforeItsTaskIsStaged() async throws {
        let server = try await FaultServer()
        server.on("/t") { _ in Reply(200, headers: [], text: "words") }
        let hooks = ["up": "{argv: [/bin/sh, -c, 'tr a-z A-Z < \"$0\" > \"$0.n\"; mv \"$0.n\" \"$0\"']}"]
        try await withDaemon(DaemonFixture.Options(settings: ["hooks": hooks])) { daemon in
            let id = try await stage(server.url("/t"), daemon, ["post_process": "up"])
            let read = try await daemon.call("task.read", ["id": .integer(id)])
            #expect(read["data"] == "WORDS" && read["eof"] == true && read["state"] == "staged")
            await daemon.kill9()
            try await daemon.start()
            #expect(try await commit(id, on: daemon)["changed"] == [.integer(id)])
            #expect(try FileTree.text("\(daemon.downloads)/t") == "WORDS")
            #expect(try await daemon.call("task.read", ["id": .integer(id)])["data"] == "WORDS")
            try await daemon.expectDownloads(["t"])
            let gone = try await stage(server.url("/t"), daemon, ["post_process": "up", "output": "gone"])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(gone)]])
            try await daemon.expectDownloads(["t"])
        }
    }

    @Test func anUpdateOfAFieldFixedByStagingIsRefused() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(410, length: 3000))
        try await withDaemon { daemon in
            let id = try await stage(server.url("/f"), daemon)
            for changes in [["headers": ["X-A": "b"]], ["dir": "/"], ["idle_timeout": 5]] as [JSONValue] {
                let refusal = await #expect(throws: RPCRefusal.self) {
                    try await daemon.call("task.update", ["id": .integer(id), "changes": changes])
                }
                #expect([-32002, -32003].contains(refusal?.code), "\(changes.text): \(String(describing: refusal))")
            }
            _ = try await daemon.call("task.update", ["id": .integer(id), "changes": ["label": "x", "output": "g"]])
            let refusal = await #expect(throws: RPCRefusal.self) {
                try await daemon.add(server.url("/f"), ["kind": "data", "finalize": "manual"])
            }
            #expect(refusal?.path == "finalize")
            _ = try await commit(id, on: daemon)
            try await daemon.expectDownloads(["g"])
        }
    }
}
