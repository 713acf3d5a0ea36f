import StrictJSON
import Testing
import XferTestSupport

/// A directory the daemon may not write to. A file system that takes no writes keeps even root out.
@Suite(.serialized, .enabled(if: Machine.canMount, "needs to mount file systems")) struct UnwritableDirectoryTests {
    private func withDisk(_ body: (DaemonFixture, SmallFileSystem) async throws -> Void) async throws {
        let disk = try SmallFileSystem(bytes: 4 << 20)
        var options = DaemonFixture.Options()
        options.downloads = disk.path
        try await withDaemon(options) { daemon in try await body(daemon, disk) }
    }

    @Test func anUnwritableDirectoryIsRefusedWhenATaskIsAdded() async throws {
        try await withDisk { daemon, disk in
            try disk.makeReadOnly()
            let refusal = try #require(
                await #expect(throws: RPCRefusal.self) { try await daemon.add("http://127.0.0.1:9/f") })
            #expect(refusal.reason == "permission_denied" && refusal.path == "dir")
            #expect(refusal.message.contains("cannot write in \"\(disk.path)\""), "\(refusal)")
            #expect(refusal.message.contains("is the daemon's own directory (download.dir)"), "\(refusal)")
            let told = try await daemon.ctl("add", "-o", "\(disk.path)/x", "http://127.0.0.1:9/f")
            #expect(told.exit == .code(3))
            #expect(told.errors.contains("-o: cannot write in \"\(disk.path)\""), "\(told)")
        }
    }

    @Test func aTaskWaitsWhileItsDirectoryIsReadOnlyAndGoesOnByItself() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(1, length: 1000)
        server.serve("/f", source)
        try await withDisk { daemon, disk in
            let id = try await daemon.add(server.url("/f"), ["paused": true])
            try disk.makeReadOnly()
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.waitReason == "destination_unavailable")
            #expect(waiting.errorMessage.contains("cannot write in"), "\(waiting.json.text)")
            #expect(server.requests.isEmpty)
            try disk.makeWritable()
            try expectFile(try await daemon.complete(id), is: source)
        }
    }
}
