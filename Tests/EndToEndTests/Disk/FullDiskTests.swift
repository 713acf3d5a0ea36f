import StrictJSON
import Testing
import XferTestSupport

/// A full disk is waited out, not failed on.
@Suite(.serialized, .enabled(if: Machine.canMount, "needs to mount file systems")) struct FullDiskTests {
    @Test func aDownloadThatDoesNotFitWaitsForRoom() async throws {
        let disk = try SmallFileSystem(bytes: 8 << 20)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(100, length: 16 << 20)
        server.serve("/f", source)
        var options = DaemonFixture.Options()
        options.downloads = disk.path
        try await withTask(server.url("/f"), [:], options) { daemon, id in
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.waitReason == "insufficient_space")
            try disk.resize(to: 64 << 20)
            // It goes on by itself.
            let view = TaskView(json: try await daemon.wait(id, for: "completed"))
            try expectFile(view, is: source)
        }
    }

    @Test func aDownloadOfUnknownLengthThatFillsTheDisk() async throws {
        let disk = try SmallFileSystem(bytes: 8 << 20)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(101, length: 16 << 20)
        server.serve("/f", source).always(.chunked)
        var options = DaemonFixture.Options()
        options.downloads = disk.path
        try await withTask(server.url("/f"), [:], options) { daemon, id in
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.waitReason == "insufficient_space")
            try disk.resize(to: 64 << 20)
            try expectFile(TaskView(json: try await daemon.wait(id, for: "completed")), is: source)
        }
    }

    @Test func aFullStateDirectoryRefusesChangesAndRecovers() async throws {
        let disk = try SmallFileSystem(bytes: 16 << 20)
        var options = DaemonFixture.Options()
        options.stateDirectory = disk.path
        try await withDaemon(options) { daemon in
            let first = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
            let room = try #require(FileTree.size("\(disk.path)/xferd.sqlite")) + (8 << 20)
            try? FileTree.write([UInt8](repeating: 0, count: Int(room)), to: "\(disk.path)/filler")
            try? FileTree.write([UInt8](repeating: 0, count: 16 << 20), to: "\(disk.path)/filler2")
            let session = try daemon.session()
            let entries = JSONValue.array(
                (0..<1000).map { ["url": .string("http://127.0.0.1:9/\($0)"), "paused": true] })
            try await eventually("a commit fails") {
                do {
                    _ = try await session.call("task.add", ["tasks": entries])
                    return false
                } catch let refusal as RPCRefusal {
                    #expect(refusal.code == -32007, "\(refusal)")
                    return true
                }
            }
            #expect(try await daemon.view(first).state == "paused")
            #expect(try await daemon.call("daemon.status")["degraded"] == true)
            FileTree.remove("\(disk.path)/filler")
            FileTree.remove("\(disk.path)/filler2")
            try await eventually("well again") { try await daemon.call("daemon.status")["degraded"] == false }
            _ = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
        }
    }
}
