import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Tasks wait while the disk is full, and do not fail.
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

    @Test func aWaitForRoomMakesNoRequestAndNoEvent() async throws {
        let disk = try SmallFileSystem(bytes: 8 << 20)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(103, length: 16 << 20)
        server.serve("/f", source)
        var options = DaemonFixture.Options()
        options.downloads = disk.path
        try await withTask(server.url("/f"), [:], options) { daemon, id in
            let first = TaskView(json: try await daemon.wait(id, for: "waiting")).json["wait"]?["until"]
            try await eventually("the disk is checked again") {
                let view = try await daemon.view(id)
                return view.state == "waiting" && view.json["wait"]?["until"] != first
            }
            #expect(server.requests.count == 1)
            let types = try await daemon.events(of: id).compactMap { $0["type"]?.stringValue }
            #expect(types.filter { $0 == "task.waiting" || $0 == "task.started" } == ["task.started", "task.waiting"])
            try disk.resize(to: 64 << 20)
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.count == 2)
        }
    }

    /// Its own first bytes, which are written before its length is handled, are not missing room.
    @Test func aFileThatFitsIsFetchedOnceHoweverFastTheServerIs() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(106, length: 4_000_000)
        server.serve("/f", source)
        for _ in 0..<3 {
            let disk = try SmallFileSystem(bytes: 6 << 20)
            var options = DaemonFixture.Options(settings: ["download": ["reserve": "1Mi"]])
            options.downloads = disk.path
            let before = server.requests.count
            try await withTask(server.url("/f"), [:], options) { daemon, id in
                try expectFile(try await daemon.complete(id), is: source)
            }
            #expect(server.requests.count == before + 1)
        }
    }

    /// A task that waits for room has no more of it than its durable bytes.
    @Test func aFileThatNeverFitsLeavesTheRoomToOthers() async throws {
        let disk = try SmallFileSystem(bytes: 6 << 20)
        let server = try await FaultServer()
        let source = SourceVersion.tagged(107, length: 4_000_000)
        server.serve("/large", SourceVersion.tagged(108, length: 7 << 20))
        server.serve("/small", source)
        var options = DaemonFixture.Options(settings: ["download": ["reserve": "1Mi"]])
        options.downloads = disk.path
        try await withTask(server.url("/large"), [:], options) { daemon, id in
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.waitReason == "insufficient_space")
            let small = try await daemon.add(server.url("/small"), ["output": "small"])
            try expectFile(try await daemon.complete(small), is: source)
        }
    }

    /// The bytes arrive on a large disk, and the file cannot lie on the small one.
    @Test func aFileThatDoesNotFitItsDirectoryIsNotFetched() async throws {
        let disk = try SmallFileSystem(bytes: 8 << 20)
        let parts = try TemporaryDirectory("xfer-parts")
        let server = try await FaultServer()
        let source = SourceVersion.tagged(104, length: 16 << 20)
        server.serve("/f", source)
        var options = DaemonFixture.Options(settings: ["download": ["incomplete_dir": "\"\(parts.path)\""]])
        options.downloads = disk.path
        try await withTask(server.url("/f"), [:], options) { daemon, id in
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.waitReason == "insufficient_space")
            #expect(waiting.errorMessage.contains("\(disk.path) lacks"), "\(waiting.json.text)")
            #expect(waiting.errorMessage.contains("the whole file system has 8.0 MiB"), "\(waiting.json.text)")
            #expect(waiting.received == 0, "\(waiting.json.text)")
            try disk.resize(to: 64 << 20)
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.count == 2)
        }
    }

    /// All bytes are on another disk, but the last checkpoint of the transfer was made before the last of them came.
    @Test func aWholeFileThatWaitsForItsDirectoryShowsAllItsBytes() async throws {
        let disk = try SmallFileSystem(bytes: 16 << 20)
        let parts = try TemporaryDirectory("xfer-parts")
        let server = try await FaultServer()
        let length: Int64 = 8 << 20
        let source = SourceVersion.tagged(105, length: length)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: length / 2, until: gate)]])
        var options = DaemonFixture.Options(settings: ["download": ["incomplete_dir": "\"\(parts.path)\""]])
        options.downloads = disk.path
        try await withTask(server.url("/f"), ["idle_timeout": 3600], options) { daemon, id in
            try await daemon.waitForBytes(length / 2, of: id)
            let filler = "\(disk.path)/filler"
            try FileTree.write([UInt8](repeating: 0, count: 12 << 20), to: filler)
            gate.open()
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.waitReason == "insufficient_space", "\(waiting.json.text)")
            #expect(waiting.received == length, "\(waiting.json.text)")
            #expect(waiting.json["progress"]?["total"] == .integer(length), "\(waiting.json.text)")
            #expect(unlink(filler) == 0)
            try expectFile(try await daemon.complete(id), is: source)
        }
    }

    @Test func aWaitForRoomEndsWhenTheTaskGetsAnotherDirectory() async throws {
        let disk = try SmallFileSystem(bytes: 8 << 20)
        let small = try SmallFileSystem(bytes: 4 << 20)
        let roomy = try TemporaryDirectory("xfer-roomy")
        let server = try await FaultServer()
        let source = SourceVersion.tagged(102, length: 16 << 20)
        server.serve("/f", source)
        var options = DaemonFixture.Options()
        options.downloads = disk.path
        options.settings = [
            "download": ["roots": "[\"\(disk.path)\", \"\(small.path)\", \"\(roomy.path)\"]"]
        ]
        try await withTask(server.url("/f"), [:], options) { daemon, id in
            func move(to path: String) async throws -> JSONValue {
                let answer = try await daemon.call(
                    "task.update", ["id": .integer(id), "changes": ["dir": .string(path)]])
                return answer["task"] ?? .null
            }
            let waiting = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(waiting.errorMessage.contains(disk.path), "\(waiting.json.text)")
            // The answer names the former disk no longer.
            let moved = try await move(to: small.path)
            #expect(moved["state"] == "queued" && moved["error"] == nil, "\(moved.text)")
            let still = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(still.errorMessage.contains(small.path), "\(still.json.text)")
            #expect(try await move(to: roomy.path)["state"] == "queued")
            try expectFile(TaskView(json: try await daemon.wait(id, for: "completed")), is: source)
        }
    }

    @Test func aDownloadOfUnknownLengthThatFillsTheDiskWaitsForRoom() async throws {
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
            let status = try await daemon.call("daemon.status")
            #expect(status["degraded"] == true)
            #expect(status["degraded_reason"]?.stringValue?.isEmpty == false, "\(status.text)")
            FileTree.remove("\(disk.path)/filler")
            FileTree.remove("\(disk.path)/filler2")
            try await eventually("well again") { try await daemon.call("daemon.status")["degraded"] == false }
            _ = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
        }
    }

    @Test(.enabled(if: Guest.isPossible, "needs root and setpriv"))
    func theRestOfTheStatesDiskIsForOperators() async throws {
        let disk = try SmallFileSystem(bytes: 128 << 20)
        var options = DaemonFixture.Options()
        options.stateDirectory = disk.path
        try await withGuests(1, options) { daemon, guests in
            let guest = guests[0]
            let task: JSONValue = ["url": "http://127.0.0.1:9/", "kind": "data", "paused": true]
            let own = try await guest.add(task)
            // Less than a fiftieth of the disk is left, and enough for some changes.
            let filler = "\(disk.path)/filler"
            let free = try disk.freeBytes - (2 << 20)
            try FileTree.write([UInt8](repeating: 0, count: Int(free)), to: filler)
            // What is free is measured once a second.
            let refusal = try await eventually("the guest's adds are refused") {
                let answer = try await guest.call("task.add", task)
                return answer.result == nil ? answer.error : nil
            }
            #expect(refusal.contains("reserved for operators"), "\(refusal)")
            let batch = try await guest.call("batch.add", ["tasks": ["http://127.0.0.1:9/"]])
            #expect(batch.result == nil && batch.error.contains("reserved for operators"), "\(batch)")
            #expect(try await guest.call("task.cancel", ["ids": [.integer(own)]]).result != nil)
            let added = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
            for verb in ["task.cancel", "task.remove"] {
                let answer = try await daemon.call(verb, ["ids": [.integer(added)]])
                #expect(answer["changed"] == [.integer(added)], "\(answer.text)")
            }
            #expect(try await daemon.call("daemon.status")["degraded"] == false)
            FileTree.remove(filler)
            try await eventually("the guest may add again") { try await guest.call("task.add", task).result != nil }
        }
    }

    /// The daemon cannot change the rows of running and queued tasks then, but shows the reason all the same.
    @Test func tasksSayThatTheDatabaseCannotBeWritten() async throws {
        let disk = try SmallFileSystem(bytes: 16 << 20)
        let server = try await FaultServer()
        let gate = Gate()
        let source = SourceVersion.tagged(102, length: 400_000)
        server.serve("/f", source, faults: [[.stall(at: 200_000, until: gate)]])
        var options = DaemonFixture.Options(settings: ["queue": ["max_active": "1"]])
        options.stateDirectory = disk.path
        try await withTask(server.url("/f"), [:], options) { daemon, running in
            try await daemon.waitForBytes(200_000, of: running)
            let queued = try await daemon.add(server.url("/f"), ["output": "g", "coalesce": false])
            let room = try #require(FileTree.size("\(disk.path)/xferd.sqlite")) + (8 << 20)
            try? FileTree.write([UInt8](repeating: 0, count: Int(room)), to: "\(disk.path)/filler")
            try? FileTree.write([UInt8](repeating: 0, count: 16 << 20), to: "\(disk.path)/filler2")
            let entries = JSONValue.array(
                (0..<1000).map { ["url": .string("http://127.0.0.1:9/\($0)"), "paused": true] })
            try await eventually("a commit fails") {
                (try? await daemon.call("task.add", ["tasks": entries])) == nil
            }
            for id in [running, queued] {
                let view = try await eventually("task \(id) says why") {
                    let view = try await daemon.view(id)
                    return view.waitReason == nil ? nil : view
                }
                #expect(view.waitReason == "storage", "\(view.json.text)")
            }
            let told = try await daemon.ctl("show", "\(queued)")
            #expect(told.output.contains("cannot write its database"), "\(told)")
            #expect(try await daemon.ctl("status").output.contains("SQLite error"))
            FileTree.remove("\(disk.path)/filler")
            FileTree.remove("\(disk.path)/filler2")
            gate.open()
            for id in [running, queued] { try expectFile(try await daemon.complete(id), is: source) }
            #expect(try await daemon.view(running).waitReason == nil)
        }
    }

    @Test(arguments: [false, true]) func aStartOnAnUnwritableFileSystemNamesTheRemedy(isReadOnly: Bool) async throws {
        let disk = try SmallFileSystem(bytes: 1 << 20)
        var options = DaemonFixture.Options()
        options.stateDirectory = disk.path
        let daemon = try DaemonFixture(options)
        if isReadOnly {
            try disk.makeReadOnly()
        } else {
            try? FileTree.write([UInt8](repeating: 0, count: 2 << 20), to: "\(disk.path)/filler")
        }
        let start = try await Command.run(
            "\(try Command.productsDirectory)/xferd", daemon.arguments, environment: daemon.environment)
        #expect(start.exit == .code(1), "\(start)")
        let advice = isReadOnly ? "is read-only: make it writable" : "is full: make room"
        #expect(start.description.contains("the file system of \(disk.path) \(advice)"), "\(start)")
    }
}
