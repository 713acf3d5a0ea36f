import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// The disk of `download.dir` is not mounted: nothing is written to what lies beneath.
@Suite(.serialized, .enabled(if: Machine.canMount, "needs to mount file systems")) struct UnmountedDiskTests {
    private func mountDisk(_ path: String) throws {
        guard mount("tmpfs", path, "tmpfs", 0, "size=8m,mode=0755") == 0 else { throw PosixError("mount \(path)") }
    }

    private func unmountDisk(_ path: String) throws {
        guard umount2(path, Int32(MNT_DETACH)) == 0 else { throw PosixError("unmount \(path)") }
    }

    /// As tasks that were added before do.
    @Test func aNewTaskWaitsForTheDiskThatDownloadsLayOnOverARestart() async throws {
        let base = try TemporaryDirectory("xfer-unmounted")
        let path = try base.makeDirectory("disk")
        try mountDisk(path)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let server = try await FaultServer()
        let sources = (1...3).map { SourceVersion.tagged(UInt64($0), length: 100_000) }
        for source in sources { server.serve("/\(source.seed)", source) }
        var options = DaemonFixture.Options()
        options.downloads = path
        try await withDaemon(options) { daemon in
            let first = try await daemon.add(server.url("/1"))
            _ = try await daemon.complete(first)
            let shown = try await daemon.task(first)["file_system"]
            #expect(shown?["type"] == "tmpfs" && shown?["mount_point"] == .string(path), "\(shown?.text ?? "")")
            let all = try await daemon.call("daemon.status")["file_systems"]?.arrayValue ?? []
            #expect(all.contains { $0["mount_point"] == .string(path) && $0["local"] == true })
            try await daemon.stop()
            try unmountDisk(path)
            try await daemon.start()

            let ids = [
                try await daemon.add(server.url("/2")),
                try await daemon.add(server.url("/3"), ["dir": .string("\(path)/below")]),
            ]
            for id in ids {
                let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
                #expect(waiting.waitReason == "destination_unavailable", "\(waiting.json.text)")
                #expect(waiting.errorMessage.contains("mounted at \"\(path)\""), "\(waiting.json.text)")
            }
            #expect(try daemon.downloaded.isEmpty, "what lies beneath the disk stays as it is")
            #expect(server.requests.count == 1)

            try mountDisk(path)
            for (id, source) in zip(ids, sources.dropFirst()) {
                try expectFile(try await daemon.complete(id), is: source)
            }
            try unmountDisk(path)
            #expect(try daemon.downloaded.isEmpty)
        }
    }

    /// An operator gives up the disk by a reload.
    @Test func aReloadUsesTheDirectoryAsItIsFound() async throws {
        let base = try TemporaryDirectory("xfer-unmounted")
        let path = try base.makeDirectory("disk")
        try mountDisk(path)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let server = try await FaultServer()
        let source = SourceVersion.tagged(4, length: 1000)
        server.serve("/f", source)
        var options = DaemonFixture.Options()
        options.downloads = path
        try await withDaemon(options) { daemon in
            let first = try await daemon.add(server.url("/f"))
            try expectFile(try await daemon.complete(first), is: source)
            try unmountDisk(path)
            let id = try await daemon.add(server.url("/f"))
            _ = try await daemon.wait(id, for: "waiting")
            daemon.reload()
            try expectFile(try await daemon.complete(id), is: source)
            #expect(try daemon.downloaded == ["f"])
        }
    }

    /// Only a request of the operator gives up a disk, and not what else makes the daemon read its files again.
    @Test(arguments: [false, true])
    func aReloadThatNobodyRequestedKeepsWaitingForTheDisk(changesAnotherKey: Bool) async throws {
        let base = try TemporaryDirectory("xfer-unmounted")
        let path = try base.makeDirectory("disk")
        try mountDisk(path)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let server = try await FaultServer()
        let source = SourceVersion.tagged(5, length: 1000)
        server.serve("/f", source)
        var options = DaemonFixture.Options()
        options.downloads = path
        try await withDaemon(options) { daemon in
            try unmountDisk(path)
            let id = try await daemon.add(server.url("/f"))
            _ = try await daemon.wait(id, for: "waiting")
            let text = try FileTree.text(daemon.configurationFile)
            let changed = changesAnotherKey ? text.replacing("max_active: 6", with: "max_active: 5") : text
            try FileTree.write(changed, to: daemon.configurationFile)
            try await eventually("the file was read") { daemon.log.contains("configuration read again") }
            let other = try await daemon.add(server.url("/f"), ["output": "other"])
            for id in [id, other] { _ = try await daemon.wait(id, for: "waiting") }
            #expect(try daemon.downloaded.isEmpty, "nothing is written beneath the disk")
            #expect(!daemon.log.contains("used without it"))

            try mountDisk(path)
            for id in [id, other] { try expectFile(try await daemon.complete(id), is: source) }
            try unmountDisk(path)
            #expect(try daemon.downloaded.isEmpty)
            daemon.reload()
            try await eventually("the log names the directory") {
                daemon.log.split(separator: "\n").contains { $0.contains("used without it") && $0.contains(path) }
            }
        }
    }

    /// A setting that names another directory is no reason to write beneath the disk of the former one.
    @Test func aTaskGoesOnWaitingForTheDiskOfAFormerDirectory() async throws {
        let base = try TemporaryDirectory("xfer-unmounted")
        let (path, other) = (try base.makeDirectory("disk"), try base.makeDirectory("other"))
        try mountDisk(path)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let server = try await FaultServer()
        let source = SourceVersion.tagged(8, length: 1000)
        server.serve("/f", source)
        var options = DaemonFixture.Options()
        options.downloads = path
        func settings(_ directory: String) -> [String: [String: String]] {
            ["download": ["dir": "\"\(directory)\"", "roots": "[\"\(base.path)\", \"\(directory)\"]"]]
        }
        options.settings = settings(path)
        try await withDaemon(options) { daemon in
            try unmountDisk(path)
            let id = try await daemon.add(server.url("/f"))
            _ = try await daemon.wait(id, for: "waiting")
            try daemon.configure(settings(other))
            try await eventually("the file was read") { daemon.log.contains("configuration read again") }
            try await daemon.stop()
            try await daemon.start()
            let second = try await daemon.add(server.url("/f"), ["dir": .string(path)])
            _ = try await daemon.wait(second, for: "waiting")
            let third = try await daemon.add(server.url("/f"))
            try expectFile(try await daemon.complete(third), is: source)
            #expect(try FileTree.entries(below: path).isEmpty)
            try mountDisk(path)
            for id in [id, second] { try expectFile(try await daemon.complete(id), is: source) }
        }
    }

    /// A root and `download.dir` are known from the start on, another directory from its first use on.
    @Test func aDiskThatNoTaskHasUsedYetIsWaitedFor() async throws {
        let base = try TemporaryDirectory("xfer-unmounted")
        let path = try base.makeDirectory("disk")
        try mountDisk(path)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let server = try await FaultServer()
        let source = SourceVersion.tagged(6, length: 1000)
        server.serve("/f", source)
        var options = DaemonFixture.Options(settings: [
            "download": ["dir": "\"\(path)/dl\"", "roots": "[\"\(path)\"]"]
        ])
        options.downloads = path
        try await withDaemon(options) { daemon in
            try unmountDisk(path)
            let id = try await daemon.add(server.url("/f"), ["dir": .string("\(path)/dl")])
            _ = try await daemon.wait(id, for: "waiting")
            #expect(try daemon.downloaded.isEmpty)
            try mountDisk(path)
            try expectFile(try await daemon.complete(id), is: source)
        }
    }

    /// The root is not on a disk of its own, but a directory beneath it is.
    @Test func aMountBeneathARootIsWaitedForOnceItWasUsed() async throws {
        let base = try TemporaryDirectory("xfer-unmounted")
        let path = try base.makeDirectory("disk")
        try mountDisk(path)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let server = try await FaultServer()
        let source = SourceVersion.tagged(7, length: 1000)
        server.serve("/f", source)
        var options = DaemonFixture.Options()
        options.downloads = base.path
        try await withDaemon(options) { daemon in
            let first = try await daemon.add(server.url("/f"), ["dir": .string("\(path)/a")])
            try expectFile(try await daemon.complete(first), is: source)
            try unmountDisk(path)
            try await daemon.stop()
            try await daemon.start()
            let second = try await daemon.add(server.url("/f"), ["dir": .string("\(path)/b")])
            let waiting = TaskView(json: try await daemon.wait(second, for: "waiting"))
            #expect(waiting.errorMessage.contains("mounted at \"\(path)\""), "\(waiting.json.text)")
            #expect(try FileTree.entries(below: path).isEmpty)
            daemon.reload()
            try expectFile(try await daemon.complete(second), is: source)
            #expect(try FileTree.entries(below: path).contains { $0.hasSuffix("f") })
        }
    }
}
