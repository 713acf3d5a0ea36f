import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// CacheMemoryOnly and ProgressiveDownload: bytes can be read while they arrive.
@Suite struct ReadTests {
    private static let checkpoints = DaemonFixture.Options(settings: [
        "download": ["checkpoint_bytes": "65536", "checkpoint_interval": "200ms"]
    ])

    private func page(
        _ id: Int64, _ daemon: DaemonFixture, offset: Int64 = 0, length: Int64 = 1 << 20
    ) async throws -> (bytes: [UInt8], json: JSONValue) {
        let json = try await daemon.call(
            "task.read", ["id": .integer(id), "offset": .integer(offset), "length": .integer(length)])
        let data = json["data"]?.stringValue ?? ""
        let bytes = json["encoding"] == "base64" ? Base64.decode(data) ?? [] : Array(data.utf8)
        return (bytes, json)
    }

    @Test func readReturnsTheWrittenPrefixInEveryState() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let source = SourceVersion.tagged(500, length: 400_000)
        server.serve("/f", source).next([.stall(at: 250_000, until: gate)])
        try await withDaemon(Self.checkpoints) { daemon in
            let queued = try await daemon.add(server.url("/f"), ["paused": true, "output": "later"])
            let empty = try await page(queued, daemon)
            #expect(empty.bytes.isEmpty && empty.json["eof"] == false && empty.json["length"] == 0)

            let id = try await daemon.add(server.url("/f"))
            let running = try await eventually("250,000 bytes are committed") { () -> ([UInt8], JSONValue)? in
                let found = try await page(id, daemon)
                return found.bytes.count >= 250_000 ? found : nil
            }
            #expect(source.firstDifference(from: running.0) == nil)
            #expect(running.1["eof"] == false && running.1["state"] == "running")
            let middle = try await page(id, daemon, offset: 100_001, length: 777)
            #expect(middle.bytes == source.bytes(100_001..<100_778))
            let beyond = try await page(id, daemon, offset: 1 << 40)
            #expect(beyond.bytes.isEmpty && beyond.json["eof"] == false)

            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            try await daemon.wait(id, for: "paused")
            let paused = try await page(id, daemon)
            #expect(paused.bytes.count >= 250_000 && paused.json["state"] == "paused")
            gate.open()
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try await daemon.complete(id)
            let whole = try await page(id, daemon)
            #expect(whole.bytes == source.bytes && whole.json["eof"] == true)
            #expect(whole.json["version"] == running.1["version"])

            // It is the published file only as long as it is that file.
            let path = "\(daemon.downloads)/f"
            rename(path, path + ".old")
            try source.write(to: path)
            for (state, change) in [("another file", {}), ("none", { FileTree.remove(path) })] as [(String, () -> Void)]
            {
                change()
                let refusal = await #expect(throws: RPCRefusal.self) { try await page(id, daemon) }
                #expect(
                    refusal?.code == -32002 && refusal?.reason == "no_bytes", "\(state): \(String(describing: refusal))"
                )
            }
            symlink(path + ".old", path)
            _ = await #expect(throws: RPCRefusal.self) { try await page(id, daemon) }
            FileTree.remove(path)
            rename(path + ".old", path)
            #expect(try await page(id, daemon).bytes == source.bytes)
            truncate(path, 399_999)
            _ = await #expect(throws: RPCRefusal.self) { try await page(id, daemon) }

            let cancelled = try await daemon.add(server.url("/f"), ["output": "c", "paused": true])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(cancelled)]])
            let refusal = await #expect(throws: RPCRefusal.self) { try await page(cancelled, daemon) }
            #expect(refusal?.reason == "no_bytes")
            let unknown = await #expect(throws: RPCRefusal.self) { try await page(4711, daemon) }
            #expect(unknown?.code == -32001)
        }
    }

    @Test func readOfAFailedDownloadReturnsItsKeptBytes() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(501, length: 300_000)
        let served = server.serve("/f", source)
        served.always(.drop(after: 100_000))
        try await withDaemon(Self.checkpoints) { daemon in
            let id = try await daemon.add(
                server.url("/f"), ["max_retries": 0, "checksum": .string(source.checksum().description)])
            let view = try await daemon.finish(id)
            #expect(view.state == "failed")
            let kept = try await page(id, daemon)
            #expect(!kept.bytes.isEmpty && kept.json["eof"] == true)
            #expect(source.firstDifference(from: kept.bytes) == nil)
        }
    }

    /// A page that ends within a character comes back byte for byte.
    @Test func readDoesNotSplitCharacters() async throws {
        let server = try await FaultServer()
        let text = String(repeating: "äöü€🙂 ", count: 2000)
        server.on("/t") { _ in Reply(200, headers: [], text: text) }
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/t"))
            try await daemon.complete(id)
            var bytes: [UInt8] = []
            while true {
                let next = try await page(id, daemon, offset: Int64(bytes.count), length: 997)
                bytes += next.bytes
                if next.json["eof"] == true { break }
                try #require(!next.bytes.isEmpty)
            }
            #expect(bytes == Array(text.utf8))
            #expect(try await page(id, daemon).json["encoding"] == "utf-8")
        }
    }

    @Test func readReturnsResponsesOfDataTasks() async throws {
        let server = try await FaultServer()
        server.on("/api") { _ in Reply(200, headers: [], text: "the answer") }
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/api"), ["kind": "data"])
            try await daemon.complete(id)
            let whole = try await page(id, daemon, offset: 4)
            #expect(whole.bytes == Array("answer".utf8) && whole.json["eof"] == true && whole.json["version"] != nil)
            #expect(try await daemon.ctl("cat", "\(id)").output == "the answer")
            #expect(try await daemon.ctl("cat", "-f", "\(id)").output == "the answer")
        }
    }

    @Test func catFollowsASlowDownload() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let source = SourceVersion.tagged(502, length: 700_000)
        server.serve("/f", source).next([.stall(at: 300_000, until: gate)])
        try await withDaemon(Self.checkpoints) { daemon in
            let id = try await daemon.add(server.url("/f"), ["max_recv_rate": 1_000_000])
            let (out, errors) = (daemon.directory.file("out"), daemon.directory.file("errors"))
            var options = ChildProcess.Options()
            options.environment = daemon.environment
            (options.output, options.errors) = (out, errors)
            let cat = try ChildProcess(
                "\(Command.productsDirectory)/xferctl", ["cat", "-f", "\(id)"], options: options)
            try await eventually("what has come is written") { (FileTree.size(out) ?? 0) >= 300_000 }
            #expect(cat.isRunning)
            // The daemon may go away and come back meanwhile.
            await daemon.kill9()
            gate.open()
            try await daemon.start()
            let exit = await cat.exit()
            let said = try FileTree.text(errors)
            #expect(exit == .code(0), "\(said) \(server.requests)")
            let written = try FileTree.read(out)
            #expect(
                written.count == 700_000 && source.firstDifference(from: written) == nil,
                "\(written.count) bytes, \(source.firstDifference(from: written) ?? -1): \(said)")
            try await daemon.complete(id)
            let again = try await daemon.ctl("cat", "\(id)")
            #expect(again.isSuccess)
        }
    }

    @Test func catExitsWithTheOutcomeOfItsTask() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let source = SourceVersion.tagged(503, length: 300_000)
        server.serve("/f", source).always(.stall(at: 100_000, until: gate))
        server.on("/gone") { _ in Reply(404, text: "") }
        try await withDaemon(Self.checkpoints) { daemon in
            let id = try await daemon.add(server.url("/f"))
            let out = daemon.directory.file("out")
            var options = ChildProcess.Options()
            options.environment = daemon.environment
            options.output = out
            let cat = try ChildProcess(
                "\(Command.productsDirectory)/xferctl", ["cat", "-f", "\(id)"], options: options)
            try await eventually("something is written") { (FileTree.size(out) ?? 0) > 0 }
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            #expect(await cat.exit() == .code(1))
            #expect(source.firstDifference(from: try FileTree.read(out)) == nil)
            let failed = try await daemon.add(server.url("/gone"))
            #expect(try await daemon.ctl("cat", "-f", "\(failed)").exit == .code(1))
            gate.open()
            let staged = try await daemon.add(server.url("/f"), ["finalize": "manual", "output": "s"])
            try await daemon.wait(staged, for: "staged")
            #expect(try await daemon.ctl("cat", "-f", "\(staged)").exit == .code(0))
        }
    }

    /// A changed source is an error, never a mixture.
    @Test func catNeverMixesTwoVersions() async throws {
        let server = try await FaultServer()
        let (old, new) = (SourceVersion.tagged(504, length: 300_000), SourceVersion.tagged(505, length: 400_000))
        let served = server.serve("/f", old)
        let gate = Gate()
        served.next([.stall(at: 200_000, until: gate), .drop(after: 210_000)])
        try await withDaemon(Self.checkpoints) { daemon in
            let id = try await daemon.add(server.url("/f"))
            let (out, errors) = (daemon.directory.file("out"), daemon.directory.file("errors"))
            var options = ChildProcess.Options()
            options.environment = daemon.environment
            (options.output, options.errors) = (out, errors)
            let cat = try ChildProcess(
                "\(Command.productsDirectory)/xferctl", ["cat", "-f", "\(id)"], options: options)
            try await eventually("the old version is written") { (FileTree.size(out) ?? 0) >= 200_000 }
            served.replace(with: new)
            gate.open()
            try expectFile(try await daemon.complete(id), is: new)
            #expect(await cat.exit() == .code(3))
            #expect(try FileTree.text(errors).contains("version"))
            #expect(old.firstDifference(from: try FileTree.read(out)) == nil)
        }
    }

    @Test(.enabled(if: Guest.isPossible, "needs root and setpriv"))
    func readOfAnotherUsersTaskIsRefused() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(506, length: 3000))
        try await withGuests(2) { daemon, guests in
            let id = try await guests[0].add(["url": .string(server.url("/f")), "dir": .string(guests[0].root)])
            try await daemon.complete(id)
            #expect(try await guests[0].call("task.read", ["id": .integer(id)]).result?["eof"] == true)
            let refused = try await guests[1].call("task.read", ["id": .integer(id)])
            #expect(refused.result == nil && refused.error.contains("there is no task"), "\(refused.error)")
            #expect(try await daemon.call("task.read", ["id": .integer(id)])["eof"] == true)
        }
    }
}
