import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Files on storage that all nodes have mounted.
@Suite(.serialized, .enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetStorageTests {
    private static let length: Int64 = 200_000

    @Test func aDownloadForSharedStorageIsPublishedThereOnce() async throws {
        let server = try await FaultServer()
        server.serve("/s", .tagged(1, length: Self.length))
        try await withStorage { storage, fleet in
            let nodes = try await fleet.first.ctl("fleet", "nodes")
            #expect(nodes.output.contains("storage:nas"), "\(nodes)")
            let id = try await storage.add(server.url("/s"), "s", in: "/deep/er", by: fleet.first)
            let task = try await fleet.first.wait(id, for: "completed")
            #expect(task["final_path"]?.stringValue?.hasSuffix("/deep/er/s") == true)
            #expect(try storage.has("deep/er/s", .tagged(1, length: Self.length)))
            #expect(storage.leftovers == [])
            let permits = try await fleet.database.sql("SELECT count(*) FROM fleet_permit", in: "fleet")
            #expect(permits == "0\n", "an end that was reported leaves no permit")
        }
    }

    /// xferd and its agent stop between the permit and the rename, and wake up when another node has done the work.
    @Test func aNodeThatSleepsBetweenPermitAndRenamePublishesNothingAfterATakeover() async throws {
        let server = try await FaultServer()
        server.serve("/z", .tagged(2, length: Self.length))
        try await withStorage { storage, fleet in
            let zombie = fleet.first
            storage.relay.set(.stallsAt("fleet_permit(", ConditionGate()))
            let id = try await storage.add(server.url("/z"), "z", by: zombie)
            try await eventually("the permit is asked for") { storage.relay.isStalling }
            for node in fleet.nodes.dropFirst() { try await node.start() }
            zombie.daemon.process?.signal(SIGSTOP)
            storage.relay.set(.passes)
            try await eventually("the permit is given") {
                try await fleet.database.sql("SELECT count(*) FROM fleet_permit", in: "fleet") == "1\n"
            }
            zombie.process?.signal(SIGSTOP)
            try await fleet.nodes[1].wait(id, for: "completed")
            #expect(try storage.has("z", .tagged(2, length: Self.length)))

            zombie.daemon.process?.signal(SIGCONT)
            zombie.process?.signal(SIGCONT)
            try await storage.forgotten(by: zombie)
            #expect(try storage.has("z", .tagged(2, length: Self.length)))
            #expect(storage.files == ["z"] && storage.leftovers == [])
            #expect(try await Self.ends(of: id, fleet.nodes[1]) == 1)
            #expect(server.requests(to: "/z").count == 2)
        }
    }

    /// The agent stops after the rename and before its report: the next node finds the file by the permit.
    @Test func aFileThatWasPublishedBeforeATakeoverIsNotFetchedAgain() async throws {
        let server = try await FaultServer()
        server.serve("/p", .tagged(3, length: Self.length))
        try await withStorage { storage, fleet in
            let zombie = fleet.first
            storage.relay.set(.stallsAt("fleet_permit(", ConditionGate()))
            let id = try await storage.add(server.url("/p"), "p", by: zombie)
            try await eventually("the permit is asked for") { storage.relay.isStalling }
            for node in fleet.nodes.dropFirst() { try await node.start() }
            storage.relay.set(.stallsAt("fleet_report(", ConditionGate()))
            try await eventually("the file is published") { storage.files == ["p"] }
            try await eventually("the report is on its way") { storage.relay.isStalling }
            zombie.process?.signal(SIGSTOP)
            let task = try await fleet.nodes[1].wait(id, for: "completed")
            #expect(task["final_path"]?.stringValue?.hasSuffix("/p") == true)
            zombie.process?.signal(SIGCONT)
            storage.relay.set(.passes)
            try await storage.forgotten(by: zombie)
            #expect(try storage.has("p", .tagged(3, length: Self.length)))
            #expect(storage.files == ["p"] && storage.leftovers == [])
            #expect(try await Self.ends(of: id, fleet.nodes[1]) == 1)
            #expect(server.requests(to: "/p").count == 1)
        }
    }

    /// A cancellation of a task whose former node may have published it waits for the next node's look.
    @Test(arguments: [false, true])
    func aTaskThatWasPublishedBeforeATakeoverIsNotCancelledButCompletes(isPaused: Bool) async throws {
        let server = try await FaultServer()
        server.serve("/c", .tagged(6, length: Self.length))
        try await withStorage { storage, fleet in
            let zombie = fleet.first
            storage.relay.set(.stallsAt("fleet_permit(", ConditionGate()))
            let id = try await storage.add(server.url("/c"), "c", by: zombie)
            try await eventually("the permit is asked for") { storage.relay.isStalling }
            for node in fleet.nodes.dropFirst() { try await node.start() }
            let other = fleet.nodes[1]
            _ = try await other.call("fleet.drain", ["node": "b"])
            storage.relay.set(.stallsAt("fleet_report(", ConditionGate()))
            try await eventually("the file is published") { storage.files == ["c"] }
            try await eventually("the report is on its way") { storage.relay.isStalling }
            zombie.process?.signal(SIGSTOP)
            try await other.wait(id, for: "queued")
            if isPaused {
                _ = try await other.call("task.pause", ["ids": [.integer(id)]])
                try await other.wait(id, for: "paused")
            }
            _ = try await other.call("task.cancel", ["ids": [.integer(id)]])
            #expect(try await other.task(id)["state"]?.stringValue == "queued")
            _ = try await other.call("fleet.undrain", ["node": "b"])
            try await other.wait(id, for: "completed")
            zombie.process?.signal(SIGCONT)
            storage.relay.set(.passes)
            try await storage.forgotten(by: zombie)
            #expect(storage.files == ["c"] && storage.leftovers == [])
            #expect(try await Self.ends(of: id, other) == 1)
        }
    }

    @Test func partialFilesOfALostNodeAreRemovedWhenItIsForgotten() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/l", .tagged(7, length: Self.length), faults: [[.stall(at: 50_000, until: gate)]])
        try await withStorage { storage, fleet in
            let (lost, other) = (fleet.first, fleet.nodes[1])
            let id = try await storage.add(server.url("/l"), "l", in: "/deep", by: lost)
            func parts() -> [String] {
                ((try? FileTree.names(in: "\(storage.path)/deep")) ?? []).filter { $0.hasPrefix(".xfer-") }
            }
            try await eventually("the request stalls") { !server.requests(to: "/l").isEmpty && !parts().isEmpty }
            for node in fleet.nodes.dropFirst() { try await node.start() }
            await lost.killAgent()
            await lost.daemon.kill9()
            gate.open()
            try await other.wait(id, for: "completed")
            #expect(parts().count == 1)
            let shown = try await other.ctl("fleet", "forget", "a")
            #expect(shown.isSuccess && shown.output.contains("partial files on shared storage: 1"), "\(shown)")
            #expect(parts().count == 1)
            let forgotten = try await other.ctl("fleet", "forget", "a", "--yes")
            #expect(forgotten.isSuccess && forgotten.output.contains("removed: 1"), "\(forgotten)")
            #expect(parts() == [])
            #expect(try storage.has("deep/l", .tagged(7, length: Self.length)))
        }
    }

    @Test func aTaskForStorageThatNoNodeHasMountedWaitsForIt() async throws {
        let server = try await FaultServer()
        server.serve("/m", .tagged(4, length: 10))
        try await withStorage(marked: false) { storage, fleet in
            let id = try await storage.add(server.url("/m"), "m", by: fleet.first)
            try await eventually("it says why it waits") {
                try await fleet.first.task(id)["wait"]?["reason"]?.stringValue == "no_node"
            }
            #expect(storage.files == [])
            try storage.mark()
            try await fleet.first.wait(id, for: "completed")
            #expect(storage.files == ["m"])
        }
    }

    @Test func aNameThatIsTakenOnSharedStorageEndsTheTask() async throws {
        let server = try await FaultServer()
        server.serve("/t", .tagged(5, length: 10))
        try await withStorage { storage, fleet in
            try FileTree.write("mine", to: "\(storage.path)/t")
            let id = try await storage.add(server.url("/t"), "t", ["on_conflict": "fail"], by: fleet.first)
            let task = try await fleet.first.wait(id, for: "failed")
            #expect(task["error"]?["reason"]?.stringValue == "destination_exists")
            #expect(try FileTree.text("\(storage.path)/t") == "mine")
            #expect(storage.leftovers == [])
        }
    }

    @Test func whatDoesNotFitSharedStorageIsRefusedByItsField() async throws {
        try await withStorage { storage, fleet in
            let cases: [(fields: JSONObject, path: String)] = [
                (["dir": "/a/../../b"], "tasks[0].dir"), (["output": "a/b"], "tasks[0].output"),
                (["kind": "data"], "tasks[0].kind"),
            ]
            for (fields, path) in cases {
                var task = fields
                task["url"] = "http://127.0.0.1:1/x"
                let refused = await #expect(throws: (any Error).self) {
                    try await fleet.first.call("fleet.add", ["place": "storage:nas", "tasks": [.object(task)]])
                }
                #expect("\(String(describing: refused))".contains(path))
            }
            let id = try await storage.add("http://127.0.0.1:1/x", "x", ["paused": true], by: fleet.first)
            let moved = try await fleet.first.call("fleet.move", ["ids": [.integer(id)], "place": "any"])
            #expect(moved["changed"]?.arrayValue == [], "its directory means another place on a node's own disk")
        }
    }

    private static func ends(of id: Int64, _ node: FleetNodeFixture) async throws -> Int {
        try await node.events().count {
            $0["task_id"]?.integerValue == id && $0["terminal"]?.boolValue == true
        }
    }
}

/// A directory that nodes a and b have mounted at places of their own, and the relay between a and the database.
private struct SharedStorage {
    let directory: TemporaryDirectory
    let path: String
    let relay: PostgresRelay

    func mark() throws { try FileTree.write("nas\n", to: "\(path)/.xfer-storage") }

    /// Published files at the top.
    var files: [String] { ((try? FileTree.names(in: path)) ?? []).filter { !$0.hasPrefix(".") }.sorted() }

    /// Partial files at the top.
    var leftovers: [String] {
        ((try? FileTree.names(in: path)) ?? []).filter { $0.hasPrefix(".xfer-") && $0 != ".xfer-storage" }
    }

    func has(_ name: String, _ version: SourceVersion) throws -> Bool { try version.equals(file: "\(path)/\(name)") }

    func add(
        _ url: String, _ name: String, in directory: String? = nil, _ fields: JSONObject = [:],
        by node: FleetNodeFixture
    ) async throws -> Int64 {
        var task = fields
        task["url"] = .string(url)
        if task["output"] == nil { task["output"] = .string(name) }
        if let directory { task["dir"] = .string(directory) }
        let added = try await node.call("fleet.add", ["place": "storage:nas", "tasks": [.object(task)]])
        return try #require(added["ids"]?.arrayValue?.first?.integerValue)
    }

    /// Waits until a node that was taken over is back and has dropped what it had.
    func forgotten(by node: FleetNodeFixture) async throws {
        try await eventually("the zombie drops it", within: Patience.limit) {
            let nodes = try await node.call("fleet.nodes")["nodes"]?.arrayValue ?? []
            guard nodes.first(where: { $0["name"]?.stringValue == node.name })?["state"]?.stringValue == "live" else {
                return false
            }
            return try await node.daemon.call("task.list")["tasks"]?.arrayValue == []
        }
    }
}

/// Runs `body` with nodes a, b and c of which a is started. a and b have the storage, c makes two nodes more than half.
private func withStorage(marked: Bool = true, body: (SharedStorage, FleetFixture) async throws -> Void) async throws {
    let directory = try TemporaryDirectory("xfer-storage")
    let database = try await makeFleetDatabase()
    let relay = try PostgresRelay(to: database)
    let storage = SharedStorage(directory: directory, path: try directory.makeDirectory("export"), relay: relay)
    if marked { try storage.mark() }
    var mounts: [String] = []
    let nodes = try await ["a", "b", "c"].asyncMap { name in
        let connection = name == "a" ? relay.connection("fleet") : database.fleet
        guard name != "c" else { return try FleetNodeFixture(name, database: connection, scale: storageScale) }
        var mount = storage.path
        if getuid() == 0 {
            // Each node has a mount of its own, as it would have of a file server.
            mount = try directory.makeDirectory("mount-\(name)")
            let mounted = try await Command.run("/bin/mount", ["--bind", storage.path, mount])
            guard mounted.isSuccess else { throw TimedOut("mount: \(mounted)") }
            mounts.append(mount)
        }
        return try FleetNodeFixture(
            name, database: connection, scale: storageScale, fleet: ["storages": "{ nas: \"\(mount)\" }"],
            settings: ["download": ["roots": "[\"\(mount)\"]", "dir": "\"\(mount)\""]])
    }
    let fixture = FleetFixture(database: database, nodes: nodes)
    let migrated = try await nodes[1].run("migrate")
    var failure: (any Error)?
    do {
        guard migrated.isSuccess else { throw TimedOut("migrate: \(migrated)") }
        try await nodes[0].start()
        try await body(storage, fixture)
    } catch {
        let logs = nodes.map { "\($0.name):\n\($0.log.suffix(3000))\nxferd:\n\($0.daemon.log.suffix(2500))" }
        failure = TimedOut("\(error)\n\(logs.joined(separator: "\n"))")
    }
    relay.set(.passes)
    for node in nodes {
        node.process?.signal(SIGCONT)
        node.daemon.process?.signal(SIGCONT)
        await node.stop()
    }
    for mount in mounts { _ = try? await Command.run("/bin/umount", [mount]) }
    await database.stop()
    if let failure { throw failure }
}

/// Leases last five seconds: a permit that waits for the test must not outlast them on a slow machine.
private let storageScale = 5

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
