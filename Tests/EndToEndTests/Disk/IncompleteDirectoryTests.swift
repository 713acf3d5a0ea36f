import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// `download.incomplete_dir`: partial files lie in a directory of their own until they are whole.
@Suite struct IncompleteDirectoryTests {
    /// The place of that directory, beside the downloads.
    enum Layout: CaseIterable {
        case sameFileSystem
        /// A file gets there by a copy.
        case otherFileSystem

        /// The layouts that this machine can have.
        static var possible: [Layout] { Machine.canMount ? allCases : [.sameFileSystem] }
    }

    /// The two directories. The one for partial files does not exist yet.
    private final class Ground {
        let base: TemporaryDirectory
        private let disk: SmallFileSystem?
        let incomplete: String

        init(_ layout: Layout = .sameFileSystem) throws {
            base = try TemporaryDirectory("xfer-incomplete")
            disk = layout == .otherFileSystem ? try SmallFileSystem(bytes: 64 << 20) : nil
            incomplete = "\(disk?.path ?? base.path)/parts"
        }

        var options: DaemonFixture.Options {
            DaemonFixture.Options(settings: ["download": ["incomplete_dir": "\"\(incomplete)\""]])
        }

        var parts: [String] { get throws { try FileTree.entries(below: incomplete) } }

        /// Expects that no file is left there, at once or soon.
        func expectNoParts(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try? await eventually("the directory for partial files is tidy") { try parts.isEmpty }
            #expect(try parts.isEmpty, sourceLocation: sourceLocation)
        }
    }

    private static let half: Int64 = 2 << 20

    /// Serves a version of 4 MiB, and stops after the half of it until the gate opens.
    private func serve(_ version: SourceVersion, by server: FaultServer, until gate: Gate, at path: String = "/f") {
        server.serve(path, version, faults: [[.stall(at: Self.half, until: gate)]])
    }

    // MARK: The life of a partial file

    @Test(arguments: Layout.possible) func aPartialFileLiesThereUntilItIsWhole(layout: Layout) async throws {
        let ground = try Ground(layout)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(1, length: 2 * Self.half)
        let gate = Gate()
        serve(source, by: server, until: gate)
        try await withTask(server.url("/f"), ["idle_timeout": 3600], ground.options) { daemon, id in
            try await daemon.waitForBytes(Self.half, of: id)
            #expect(try daemon.downloaded.isEmpty)
            let parts = try ground.parts
            #expect(parts.count == 1 && parts[0].hasSuffix(".part"), "\(parts)")
            try await eventually("a checkpoint lets its bytes be read") {
                let read = try await daemon.call("task.read", ["id": .integer(id), "length": 1])
                return read["data"]?.stringValue?.isEmpty == false
            }
            gate.open()
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["f"])
            try await ground.expectNoParts()
            #expect(FileTree.mode("\(daemon.downloads)/f").map { $0 & 0o777 } == 0o644)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: Layout.possible) func aCancelledOrRemovedTaskLeavesNothingThere(layout: Layout) async throws {
        let ground = try Ground(layout)
        let server = try await FaultServer()
        let gate = Gate()
        defer { gate.open() }
        serve(.tagged(2, length: 2 * Self.half), by: server, until: gate)
        try await withTask(server.url("/f"), ["idle_timeout": 3600], ground.options) { daemon, id in
            try await daemon.waitForBytes(Self.half, of: id)
            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            try await daemon.wait(id, for: "paused")
            #expect(try ground.parts.count == 1)
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            try await ground.expectNoParts()
            try await daemon.expectDownloads([])
        }
    }

    /// One gets the file, the other a copy.
    @Test(arguments: Layout.possible) func tasksOfSeveralDirectoriesShareOnePartialFile(layout: Layout) async throws {
        let ground = try Ground(layout)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(3, length: 2 * Self.half)
        let gate = Gate()
        serve(source, by: server, until: gate)
        try await withDaemon(ground.options) { daemon in
            var ids: [Int64] = []
            for name in ["a", "b"] {
                ids.append(
                    try await daemon.add(
                        server.url("/f"), ["dir": .string("\(daemon.downloads)/\(name)"), "idle_timeout": 3600]))
            }
            for id in ids { try await daemon.waitForBytes(Self.half, of: id) }
            #expect(try ground.parts.count == 1 && daemon.downloaded == ["a/", "b/"])
            gate.open()
            for id in ids { try expectFile(try await daemon.complete(id), is: source) }
            try await daemon.expectDownloads(["a/", "a/f", "b/", "b/f"])
            try await ground.expectNoParts()
            #expect(server.requests.count == 1)
        }
    }

    @Test func aWrongDigestPublishesNothing() async throws {
        let ground = try Ground()
        let server = try await FaultServer()
        server.serve("/f", .tagged(4, length: 2 * Self.half))
        let digest = "sha-256=" + String(repeating: "0", count: 64)
        try await withTask(server.url("/f"), ["checksum": .string(digest)], ground.options) { daemon, id in
            _ = try await daemon.fails(id, "checksum_mismatch")
            try await daemon.expectDownloads([])
            try await ground.expectNoParts()
        }
    }

    // MARK: Changes of the setting and of the task

    /// Waits until the daemon has read a changed configuration.
    private func reload(_ daemon: DaemonFixture, _ settings: [String: [String: String]]) async throws {
        let count = daemon.log.split(separator: "configuration read again").count
        try daemon.configure(settings)
        daemon.reload()
        try await eventually("the configuration is read") {
            daemon.log.split(separator: "configuration read again").count > count
        }
    }

    @Test(arguments: [false, true]) func aDownloadGoesOnWhereItLiesWhenTheSettingChanges(restarts: Bool) async throws {
        let ground = try Ground()
        let server = try await FaultServer()
        let sources = (5...6).map { SourceVersion.tagged(UInt64($0), length: 2 * Self.half) }
        let gate = Gate()
        for source in sources { serve(source, by: server, until: gate, at: "/\(source.seed)") }
        try await withDaemon(ground.options) { daemon in
            func begin(_ source: SourceVersion) async throws -> Int64 {
                let id = try await daemon.add(server.url("/\(source.seed)"), ["idle_timeout": 3600])
                try await daemon.waitForBytes(Self.half, of: id)
                _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
                try await daemon.wait(id, for: "paused")
                return id
            }
            let apart = try await begin(sources[0])
            #expect(try ground.parts.count == 1 && daemon.downloaded.isEmpty)
            try await reload(daemon, [:])
            let beside = try await begin(sources[1])
            #expect(try ground.parts.count == 1 && daemon.downloaded.count == 1)
            if restarts {
                try await daemon.stop()
                try await daemon.start()
            }
            let other = ground.base.file("other")
            try await reload(daemon, ["download": ["incomplete_dir": "\"\(other)\""]])
            gate.open()
            _ = try await daemon.call("task.resume", ["ids": [.integer(apart), .integer(beside)]])
            for (id, source) in zip([apart, beside], sources) {
                try expectFile(try await daemon.complete(id), is: source)
            }
            #expect(server.requests.count == 4)
            #expect(server.requests.suffix(2).allSatisfy { $0.header("Range")?.hasPrefix("bytes=") == true })
            try await daemon.expectDownloads(["5", "6"])
            try await ground.expectNoParts()
            #expect(!FileTree.exists(other), "no new download has begun")
        }
    }

    @Test func anotherDirectoryOfTheTaskKeepsTheBytes() async throws {
        let ground = try Ground()
        let server = try await FaultServer()
        let source = SourceVersion.tagged(7, length: 2 * Self.half)
        let gate = Gate()
        serve(source, by: server, until: gate)
        try await withTask(server.url("/f"), ["idle_timeout": 3600], ground.options) { daemon, id in
            try await daemon.waitForBytes(Self.half, of: id)
            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            try await daemon.wait(id, for: "paused")
            let changes: JSONValue = ["dir": .string("\(daemon.downloads)/there")]
            _ = try await daemon.call("task.update", ["id": .integer(id), "changes": changes])
            #expect(try ground.parts.count == 1)
            gate.open()
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["there/", "there/f"])
            try await ground.expectNoParts()
            #expect(server.requests.last?.header("Range") != nil)
        }
    }

    @Test func aDirectoryOfXferdIsRefusedAndAMissingOneIsNamed() async throws {
        let ground = try Ground()
        let daemon = try DaemonFixture(ground.options)
        func check(_ path: String) async throws -> Command.Result {
            try daemon.configure(["download": ["incomplete_dir": "\"\(path)\""]])
            return try await Command.run(
                "\(Command.productsDirectory)/xferd", daemon.arguments + ["--check-config"],
                environment: daemon.environment)
        }
        let own = try await check("\(daemon.stateDirectory)/parts")
        #expect(!own.isSuccess && own.errors.contains("xferd's own files"), "\(own)")
        let file = ground.base.file("file")
        try FileTree.write("", to: file)
        let notOne = try await check(file)
        #expect(!notOne.isSuccess && notOne.errors.contains("is not a directory"), "\(notOne)")
        let missing = try await check(ground.base.file("none/parts"))
        #expect(missing.isSuccess && "\(missing)".contains("does not exist"), "\(missing)")
    }

    // MARK: Guests

    /// Its bytes lie where the guest may write.
    @Test(.enabled(if: Guest.isPossible, "needs root and setpriv"))
    func aGuestsPartialFileLiesInItsDestination() async throws {
        let ground = try Ground()
        let server = try await FaultServer()
        let source = SourceVersion.tagged(8, length: 2 * Self.half)
        let gate = Gate()
        serve(source, by: server, until: gate)
        try await withGuests(1, ground.options) { daemon, guests in
            let id = try await guests[0].add([
                "url": .string(server.url("/f")), "dir": .string(guests[0].root), "idle_timeout": 3600,
            ])
            try await daemon.waitForBytes(Self.half, of: id)
            #expect(try FileTree.entries(below: guests[0].root).count == 1)
            #expect(!FileTree.exists(ground.incomplete))
            gate.open()
            try expectFile(try await daemon.complete(id), is: source)
        }
    }

    // MARK: Crashes and disks

    /// A hook runs when the file has come to its destination, and before it has its name.
    @Test(arguments: Layout.possible) func aKillBetweenCopyAndPublishCostsNoByte(layout: Layout) async throws {
        let ground = try Ground(layout)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(9, length: 2 * Self.half)
        server.serve("/f", source)
        let (hook, runs) = (ground.base.file("hook"), ground.base.file("runs"))
        let text = "#!/bin/sh\necho >> \(runs)\ntest \"$(wc -l < \(runs))\" -gt 1 || exec sleep 1000\n"
        try FileTree.write(text, to: hook, mode: 0o755)
        var options = ground.options
        options.settings["hooks"] = ["slow": "{argv: [\"\(hook)\"], timeout: 2000}"]
        try await withTask(server.url("/f"), ["post_process": "slow"], options) { daemon, id in
            try await eventually("the hook runs") { FileTree.exists(runs) }
            await daemon.kill9()
            try await daemon.start()
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.count == 1)
            try await daemon.expectDownloads(["f"])
            try await ground.expectNoParts()
        }
    }

    @Test(.enabled(if: Machine.canMount, "needs to mount file systems"))
    func aFullDestinationIsWaitedForWithTheWholeFileKept() async throws {
        let ground = try Ground()
        let disk = try SmallFileSystem(bytes: 3 << 20)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(10, length: 2 * Self.half)
        server.serve("/f", source)
        var options = ground.options
        options.downloads = disk.path
        try await withTask(server.url("/f"), [:], options) { daemon, id in
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.waitReason == "insufficient_space", "\(waiting.json.text)")
            #expect(waiting.errorMessage.contains(disk.path), "\(waiting.json.text)")
            #expect(try ground.parts.count == 1 && daemon.downloaded.isEmpty)
            try disk.resize(to: 64 << 20)
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.count == 1)
            try await ground.expectNoParts()
        }
    }

    @Test(.enabled(if: Machine.canMount, "needs to mount file systems"))
    func bytesOnADiskThatIsNotMountedAreWaitedFor() async throws {
        let ground = try Ground()
        let disk = try SmallFileSystem(bytes: 64 << 20)
        let path = try ground.base.makeDirectory("disk")
        func mountDisk() throws {
            guard mount(disk.path, path, nil, UInt(MS_BIND), nil) == 0 else { throw PosixError("mount \(path)") }
        }
        try mountDisk()
        defer { umount2(path, Int32(MNT_DETACH)) }
        let server = try await FaultServer()
        let source = SourceVersion.tagged(11, length: 2 * Self.half)
        let gate = Gate()
        serve(source, by: server, until: gate)
        let setting = ["download": ["incomplete_dir": "\"\(path)/parts\""]]
        let task: JSONObject = ["idle_timeout": 3600]
        try await withTask(server.url("/f"), task, DaemonFixture.Options(settings: setting)) { daemon, id in
            try await daemon.waitForBytes(Self.half, of: id)
            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            try await daemon.wait(id, for: "paused")
            gate.open()
            try await daemon.stop()
            #expect(umount2(path, Int32(MNT_DETACH)) == 0)
            try await daemon.start()
            let fresh = try await daemon.add(server.url("/f"), ["output": "g", "coalesce": false])
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            for id in [id, fresh] {
                let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
                #expect(waiting.waitReason == "destination_unavailable", "\(waiting.json.text)")
                #expect(waiting.errorMessage.contains("incomplete_dir"), "\(waiting.json.text)")
            }
            #expect(try FileTree.entries(below: path).isEmpty, "what lies beneath the disk stays as it is")
            try mountDisk()
            for id in [id, fresh] { try expectFile(try await daemon.complete(id), is: source) }
            #expect(server.requests.contains { $0.header("Range") != nil })
            try await daemon.expectDownloads(["f", "g"])
        }
    }
}

/// kill -9 at the steps by which a whole file comes to its destination.
@Suite(.serialized, .enabled(if: KillPoint.isPossible && Machine.canMount, "needs root, strace and mounts"))
struct IncompleteDirectoryKillTests {
    @Test(
        arguments: [
            // The file gets its second name, loses the first one, gets its final one.
            (true, KillPoint(call: "linkat")), (true, KillPoint(call: "unlinkat")),
            (true, KillPoint(call: "renameat2")),
            // The bytes are copied, the file gets its final name.
            (false, KillPoint(call: "copy_file_range")), (false, KillPoint(call: "renameat2")),
        ])
    func eachFileIsPublishedOnceAndFetchedOnce(isSame: Bool, point: KillPoint) async throws {
        let base = try TemporaryDirectory("xfer-incomplete")
        let disk = try SmallFileSystem(bytes: 64 << 20)
        let incomplete = "\(isSame ? base.path : disk.path)/parts"
        let server = try await FaultServer()
        let source = SourceVersion.tagged(12, length: 4 << 20)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 3 << 20, until: gate)]])
        let settings = ["download": ["incomplete_dir": "\"\(incomplete)\""]]
        let task: JSONObject = ["idle_timeout": 3600]
        try await withTask(server.url("/f"), task, DaemonFixture.Options(settings: settings)) { daemon, id in
            try await daemon.waitForBytes(3 << 20, of: id)
            let strace = try await daemon.attach(point, downloads: daemon.downloads)
            gate.open()
            try await eventually("\(point.testDescription) kills it", within: Patience.long) {
                daemon.process?.isRunning != true
            }
            await daemon.kill9()
            _ = await strace.exit()
            try await daemon.start()
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.count == 1, "\(point.testDescription)")
            try await daemon.expectDownloads(["f"])
            try? await eventually("no partial file is left") { try FileTree.entries(below: incomplete).isEmpty }
            #expect(try FileTree.entries(below: incomplete).isEmpty)
            #expect(try await daemon.events(of: id, types: "task.completed").count == 1)
        }
    }
}
