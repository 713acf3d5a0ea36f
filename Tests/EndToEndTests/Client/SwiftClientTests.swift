import Glibc
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferClient
import XferModel
import XferProtocol
import XferTestSupport

/// A client of a real daemon, over its Unix socket or over a listener with TLS.
struct ClientPlace: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Runs the body with the daemon and a client of it.
    let run: @Sendable ((DaemonFixture, TransferClient) async throws -> Void) async throws -> Void

    static let socket = ClientPlace(testDescription: "Unix socket") { body in
        try await withDaemon { daemon in try await body(daemon, TransferClient(.socket(daemon.socket))) }
    }

    static let listener = ClientPlace(testDescription: "listener with TLS") { body in
        let files = try TemporaryDirectory("xfer-tls")
        let remote = try await RemoteDaemon.encrypted(files)
        var address = try ServerAddress(
            "https://localhost:\(remote.port)", token: try await remote.token("program", "own"))
        address.authoritiesFile = files.file("ca.pem")
        try await body(remote.daemon, TransferClient(.server(address)))
        try await remote.daemon.stop()
    }

    static let all = Guest.curl == nil ? [socket] : [socket, listener]
}

/// The client library against the real daemon.
struct SwiftClientTests {
    @Test(arguments: ClientPlace.all) func anAddedTaskIsAwaitedAndItsFileIsThere(place: ClientPlace) async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(1, length: 100_000)
        server.serve("/file", version)
        try await place.run { _, client in
            let task = try await client.add(server.url("/file")) { $0.output = "far.bin" }
            let record = try await task.wait(timeout: Patience.limit)
            let path = try #require(record.finalPath)
            #expect(record.state?.value == .completed && path.hasSuffix("/far.bin"))
            #expect(try FileTree.read(path) == version.bytes)
            #expect(try await task.record(fields: TaskColumns(["output"])).output == "far.bin")
            #expect(try await task.pause() == false)
            #expect(try await task.remove(files: true))
            #expect(!FileTree.exists(path))
            await #expect(throws: TaskError.missing(task.id)) { try await task.wait(timeout: Patience.limit) }
        }
    }

    @Test(arguments: ClientPlace.all) func aWaitSurvivesThatTheDaemonIsKilled(place: ClientPlace) async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/file", .tagged(1, length: 100_000), faults: [[.stall(at: 50_000, until: gate)]])
        try await place.run { daemon, client in
            let task = try await client.add(server.url("/file"))
            async let ended = task.wait(timeout: Patience.limit)
            try await eventually("the first request stalls") { server.requests(to: "/file").count == 1 }
            await daemon.kill9()
            try await daemon.start()
            #expect(try await ended.state?.value == .completed)
            gate.open()
        }
    }

    @Test(arguments: ClientPlace.all) func eventsGoOnAfterTheDaemonWasKilled(place: ClientPlace) async throws {
        try await place.run { daemon, client in
            let events = try await client.events(types: [.durable(.taskAdded)])
            var added: [TaskID] = []
            for round in 0..<3 {
                if round > 0 {
                    await daemon.kill9()
                    try await daemon.start()
                }
                for index in 0..<2 {
                    // The listener may begin a moment after the daemon says that it is ready.
                    let task = try await eventually("a task is added") {
                        try? await client.add("http://127.0.0.1:1/\(round)-\(index)") { $0.paused = true }
                    }
                    added.append(task.id)
                }
            }
            var found: [TaskID] = []
            for try await event in events {
                if let id = event.taskID { found.append(id) }
                if found.count == added.count { break }
            }
            #expect(found == added)

            let position = await events.position
            #expect(position.storeID != nil)
            let later = try await client.add("http://127.0.0.1:1/later") { $0.paused = true }
            let rest = try await client.events(since: position, types: [.durable(.taskAdded)])
            #expect(try await rest.first { _ in true }?.taskID == later.id)
        }
    }

    @Test(arguments: ClientPlace.all)
    func addsAndEventsThatBeginWhileTheDaemonIsAwayFindItAgain(place: ClientPlace) async throws {
        try await place.run { daemon, client in
            let first = try await client.add("http://127.0.0.1:1/first") { $0.paused = true }
            await daemon.kill9()
            async let later = client.add("http://127.0.0.1:1/later") { $0.paused = true }
            async let events = client.events(since: .oldest, types: [.durable(.taskAdded)])
            try await daemon.start()
            let (second, sequence) = (try await later, try await events)
            var added: [TaskID] = []
            for try await event in sequence {
                if let id = event.taskID { added.append(id) }
                if added.count == 2 { break }
            }
            #expect(added == [first.id, second.id])
        }
    }

    @Test func progressAndTheEndOfATaskAreEvents() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(1, length: 100_000))
        try await ClientPlace.socket.run { _, client in
            let task = try await client.add(server.url("/file"))
            var types: [String] = []
            for try await event in try await task.events() {
                types.append(event.type.description)
                #expect(event.taskID == task.id)
                if event.isTerminal { break }
            }
            #expect(types.first == "task.added" && types.last == "task.completed")
        }
    }

    @Test func aTaskThatDoesNotCompleteIsAnErrorThatSaysWhy() async throws {
        let server = try await FaultServer()
        try await ClientPlace.socket.run { _, client in
            let missing = try await client.add(server.url("/missing"))
            let error = await #expect(throws: TaskError.self) { try await missing.wait(timeout: Patience.limit) }
            guard case .failed(let record) = error else { throw TimedOut("\(String(describing: error))") }
            #expect(record.error?.httpStatus == 404 && "\(TaskError.failed(record))".contains("404"))

            let paused = try await client.add(server.url("/other")) { $0.paused = true }
            await #expect(throws: TaskError.timedOut(paused.id)) { try await paused.wait(timeout: .zero) }
            #expect(try await paused.cancel())
            let cancelled = await #expect(throws: TaskError.self) { try await paused.wait(timeout: Patience.limit) }
            guard case .cancelled = cancelled else { throw TimedOut("\(String(describing: cancelled))") }
        }
    }

    @Test func moreTasksAreAwaitedThanOneConnectionTakes() async throws {
        try await ClientPlace.socket.run { _, client in
            let new = (0..<100).map { index in
                var task = NewTask(url: "http://127.0.0.1:1/\(index)")
                (task.paused, task.group) = (true, "many")
                return task
            }
            let tasks = try await client.add(new)
            let waiting = tasks.map { task in Task { try await task.wait() } }
            // They wait, and other calls are answered beside them.
            #expect(try await client.call(QueueStats.self).counts.paused == 100)
            var many = TaskFilter()
            many.group = ["many"]
            var listed: [TaskID] = []
            for try await record in client.tasks(matching: many, order: .ascending) { listed.append(record.id) }
            #expect(listed == tasks.map(\.id))
            try await client.cancel(TaskSelection(filter: many))
            for wait in waiting { await #expect(throws: TaskError.self) { try await wait.value } }
        }
    }

    @Test func anyNumberOfCallsTakesAtMostFourConnections() async throws {
        try await ClientPlace.socket.run { daemon, client in
            let task = try await client.add("http://127.0.0.1:1/") { $0.paused = true }
            let waiting = (0..<300).map { _ in Task { try await task.wait() } }
            let asking = (0..<300).map { _ in Task { try await client.call(DaemonStatus.self) } }
            for call in asking { _ = try await call.value }
            func connections() async throws -> Int {
                let socket = try UnixSocket(connectedTo: daemon.socket)
                try await socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                let name = #"xferd_rpc_clients{transport="unix"} "#
                let page = try await socket.readToEnd()
                let line = try #require(page.split(separator: "\n").first { $0.hasPrefix(name) })
                return try #require(Int(line.dropFirst(name.count)))
            }
            // Those of the test itself may still be closing; its question has one, too.
            try await eventually("no more than four are the client's") { try await connections() <= 5 }
            #expect(try await task.cancel())
            for wait in waiting { await #expect(throws: TaskError.self) { try await wait.value } }
        }
    }

    @Test func aListOfMoreThanOnePageHasEveryTaskOnce() async throws {
        try await ClientPlace.socket.run { _, client in
            let new = (0..<2500).map { index in
                var task = NewTask(url: "http://127.0.0.1:1/\(index)")
                task.paused = true
                return task
            }
            let added = Set(try await client.add(new).map(\.id))
            var listed: [TaskID] = []
            for try await record in client.tasks(fields: TaskColumns(["state"])) { listed.append(record.id) }
            #expect(Set(listed) == added && listed.count == 2500)
        }
    }

    @Test func aLongResponseIsReadWholeAndALimitIsKept() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(1, length: 3_000_000)
        server.serve("/file", version)
        server.on("/json") { _ in
            Reply(200, headers: [HeaderField(name: "Content-Type", value: "application/json")], text: #"{"id":5}"#)
        }
        try await ClientPlace.socket.run { _, client in
            let task = try await client.add(server.url("/file")) { $0.kind = .data }
            _ = try await task.wait(timeout: Patience.limit)
            #expect(try await task.result().bytes == version.bytes)
            let tooLong = await #expect(throws: ResultTooLongError.self) { try await task.result(limit: 1_000_000) }
            #expect(tooLong?.length == 3_000_000)
            let parsed = try await client.add(server.url("/json")) { ($0.kind, $0.parse) = (.data, [.json]) }
            _ = try await parsed.wait(timeout: Patience.limit)
            #expect(try await parsed.result().object == ["id": 5])
        }
    }

    @Test func aTokenThatMayOnlyAddAddsATask() async throws {
        let files = try TemporaryDirectory("xfer-tls")
        let remote = try await RemoteDaemon.encrypted(files)
        func client(_ token: String) throws -> TransferClient {
            var address = try ServerAddress("https://localhost:\(remote.port)", token: token)
            address.authoritiesFile = files.file("ca.pem")
            return TransferClient(.server(address))
        }
        let adder = try client(try await remote.token("adder", "add"))
        let task = try await adder.add("http://a.test/") { $0.paused = true }
        #expect(task.storeID == nil)
        let refused = await #expect(throws: CallError.self) { try await task.record() }
        guard case .refused(let failure) = refused else { throw TimedOut("\(String(describing: refused))") }
        #expect(failure.knownCode == .permissionDenied)

        let unknown = await #expect(throws: NoDaemonError.self) { try await client("xfer_wrong").add("http://a.test/") }
        guard case .rejected(_, 401, _) = unknown?.tried.first?.error else {
            throw TimedOut("\(String(describing: unknown))")
        }
        try await remote.daemon.stop()
    }

    @Test func theExampleProgramDownloadsAFile() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(1, length: 100_000)
        server.serve("/big.iso", version)
        try await withDaemon { daemon in
            let program = try "\(Command.productsDirectory)/xfer-example-download"
            let ended = try await Command.run(program, [server.url("/big.iso")], environment: daemon.environment)
            #expect(ended.isSuccess && ended.output.hasSuffix("\(daemon.downloads)/big.iso\n"), "\(ended)")
            #expect(try FileTree.read("\(daemon.downloads)/big.iso") == version.bytes)
            let failed = try await Command.run(program, [server.url("/missing")], environment: daemon.environment)
            #expect(failed.output.contains("failed: ") && failed.output.contains("404"), "\(failed)")
        }
    }

    @Test func theExampleProgramForManyFilesFetchesEachOnce() async throws {
        let server = try await FaultServer()
        for number in 0..<20 {
            server.on("/\(number).txt") { _ in Reply(200, text: String(repeating: "\(number).txt\n", count: 100)) }
        }
        try await withDaemon { daemon in
            let program = try "\(Command.productsDirectory)/xfer-example-many"
            let arguments = [server.url(""), daemon.downloads, "20"]
            // The second run finds the tasks of the first one by their keys.
            for _ in 0..<2 {
                let ended = try await Command.run(program, arguments, environment: daemon.environment)
                #expect(ended.isSuccess && ended.output == "20 files are right\n", "\(ended)")
            }
            #expect(server.requests.count == 20)
        }
    }

    @Test func manyTasksAreAddedAndWaitedForOverKills() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(1, length: 1000))
        try await withDaemon { daemon in
            let client = TransferClient(.socket(daemon.socket))
            // More than one call takes.
            let many = try await client.addAll((0...TaskLimits.batchSize).map { server.url("/f?\($0)") }) {
                ($0.kind, $0.paused) = (.data, true)
            }
            #expect(many.count == TaskLimits.batchSize + 1 && Set(many.map(\.id)).count == many.count)
            await #expect(throws: TaskError.timedOut(many[0].id)) {
                try await client.waitAll(many, timeout: .milliseconds(10))
            }
            async let ended = client.waitAll(many, timeout: Patience.limit)
            var all = TaskFilter()
            all.state = [.paused]
            try await client.cancel(TaskSelection(filter: all))
            for _ in 0..<2 {
                await daemon.kill9()
                try await daemon.start()
            }
            let cancelled = try await ended
            #expect(cancelled.map(\.id) == many.map(\.id) && cancelled.allSatisfy { $0.state?.value == .cancelled })

            let some = try await client.addAll([server.url("/f"), server.url("/missing")]) { $0.kind = .data }
            let records = try await client.waitAll([some[1], some[0], some[1]], timeout: Patience.limit)
            #expect(records.map(\.id) == [some[1].id, some[0].id, some[1].id])
            #expect(records.map { $0.state?.value } == [.failed, .completed, .failed])
            #expect(try await client.waitAll([]).isEmpty)
            #expect(try await client.addAll([String]()).isEmpty)
            _ = try await some[0].remove()
            await #expect(throws: TaskError.missing(some[0].id)) { try await client.waitAll(some) }
        }
    }

    @Test func theExamplesOfTheGuideDoWhatItSays() async throws {
        let server = try await FaultServer()
        server.serve("/big.iso", .tagged(1, length: 1000))
        server.serve("/other.iso", .tagged(2, length: 1000))
        try await withDaemon { daemon in
            let client = TransferClient(.socket(daemon.socket))
            #expect(try await fetch(server.url("/big.iso"), with: client) == "\(daemon.downloads)/big.iso")
            let paths = try await fetchAll([server.url("/other.iso?1"), server.url("/other.iso?2")], with: client)
            #expect(paths.count == 2 && paths.allSatisfy(FileTree.exists))

            let later = try await fetchLater(
                server.url("/later.iso"), digest: String(repeating: "0", count: 64),
                at: Timestamp(seconds: 4_000_000_000), with: client)
            let record = try await later.record()
            #expect(record.wait?.reason.value == .schedule, "\(record)")
            #expect(try await later.cancel())

            let image = try await client.add(server.url("/big.iso?image")) {
                ($0.paused, $0.group) = (true, "images")
            }
            try await resumeImages(with: client)
            #expect(try await image.wait(timeout: Patience.limit).state?.value == .completed)

            let positions = NIOLockedValueBox<[EventPosition]>([])
            let reporting = Task {
                try await report(since: .oldest, with: client) { position in
                    positions.withLockedValue { $0.append(position) }
                }
            }
            try await eventually("four ends are reported") { positions.withLockedValue(\.count) == 4 }
            reporting.cancel()
            await #expect(throws: CancellationError.self) { try await reporting.value }

            #expect(try await ask(server.url("/other.iso"), with: client).count == 1000)
            #expect(try await ask(server.url("/missing"), with: client) == [])
            #expect(try await ask("no URL", with: client) == [])
        }
        #expect(throws: ServerAddress.Fault.token) { try remoteClient(token: "") }
    }
}
