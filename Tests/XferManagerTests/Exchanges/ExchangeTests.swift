import Testing
import XferFiles
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

@Suite struct ExchangeTests {
    private static let json = HeaderField(name: "Content-Type", value: "application/json")

    /// Adds a `data` task, or another kind.
    private func add(
        _ method: HTTPMethod, _ path: String, _ content: XferModel.RequestContent? = nil, to manager: TransferManager,
        _ fixture: ManagerFixture, headers: [HeaderField] = [], kind: TaskKind = .data,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        var request = RequestFields(kind: kind)
        request.method = method
        request.content = content
        request.headers = headers
        let draft = TaskDraft(url: fixture.server.url(path), request: request) { request in
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: fixture.downloads), kind: kind)
            change(&specification)
            return specification
        }
        return try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id
    }

    private func result(_ id: TaskID, _ manager: TransferManager) async throws -> ResultPage {
        try await manager.bytes.result(of: id, offset: 0, length: 1 << 20, for: ManagerFixture.caller)
    }

    @Test func aPostIsSentOnceAndItsAnswerIsKept() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/hook") { request in
            Reply(201, headers: [HeaderField(name: "X-Seen", value: "yes")], text: "got \(request.body.count)")
        }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await add(.post, "/hook", .bytes(InlineBytes(Array("hello".utf8))), to: manager, fixture)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed)
        #expect(task.outcome.httpStatus == 201)
        #expect(task.outcome.responseHeaders.firstValue(named: "x-seen") == "yes")
        #expect((task.received, task.sent) == (5, 5))
        let page = try await result(id, manager)
        #expect(String(decoding: page.bytes, as: UTF8.self) == "got 5")
        #expect(page.isLast)
        let requests = fixture.server.requests(to: "/hook")
        #expect(requests.map(\.method) == ["POST"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["hello"])
        let events = try await fixture.events(of: id, in: manager)
        #expect(events == [.taskAdded, .taskStarted, .taskResponse, .taskCompleted])
        await manager.shutdown(.suspend)
    }

    /// In memory, and spilled to a file.
    @Test(arguments: [10, 2 << 20]) func theHeadAndTheBytesOfARunningDataTaskAreThereBeforeItsEnd(
        _ before: Int64
    ) async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(8, length: 3 << 20)
        let gate = Gate()
        fixture.server.serve("/big", version, faults: [[.stall(at: before, until: gate)]])
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await add(.get, "/big", to: manager, fixture)
        await gate.arrived()
        try await eventually("the head is reported") {
            try await fixture.events(of: id, in: manager).contains(.taskResponse)
        }
        let running = try await manager.queries.task(id, for: ManagerFixture.caller)
        #expect(running.state == .running && running.outcome.httpStatus == 200)
        var page: BytePage?
        try await eventually("what has arrived can be read") {
            page = try await manager.bytes.read(id, offset: 0, length: 1 << 20, for: ManagerFixture.caller)
            return page?.length == before
        }
        #expect(page?.bytes == Array(version.bytes.prefix(Int(clamping: min(before, 1 << 20)))))
        #expect(page?.isLast == false && page?.version != nil)
        gate.open()
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.outcome.lastAttempt?.address == "127.0.0.1")
        #expect(task.outcome.lastAttempt?.httpVersion == "HTTP/1.1")
        let end = try await manager.bytes.read(id, offset: before, length: 100, for: ManagerFixture.caller)
        #expect(end.version == page?.version && end.length == version.length)
        #expect(
            try await fixture.events(of: id, in: manager) == [.taskAdded, .taskStarted, .taskResponse, .taskCompleted])
        await manager.shutdown(.suspend)
    }

    @Test func anUploadIsTransferringWhileItIsSentAndItsLastProgressIsWhole() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.on("/up") { _ in
            var reply = Reply(200, text: "ok")
            reply.headGate = gate
            return reply
        }
        let manager = try await fixture.open()
        try await manager.start()
        let subscription = manager.hub.subscribe(EventFilter(includesProgress: true))
        let content = InlineBytes([UInt8](repeating: 7, count: 600_000))
        let id = try await add(.put, "/up", .bytes(content), to: manager, fixture, kind: .upload)
        await gate.arrived()
        try await eventually("it is transferring") {
            await manager.queries.progress(of: [id])[id]?.phase == .transferring
        }
        gate.open()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        var last: ProgressSnapshot?
        reading: while let deliveries = await subscription.next() {
            for delivery in deliveries {
                switch delivery {
                case .progress(let snapshot): last = snapshot
                case .event(let event) where event.type == .taskCompleted: break reading
                case .event, .behind: break
                }
            }
        }
        #expect(last?.sent == 600_000 && last?.total == 600_000)
        await manager.shutdown(.suspend)
    }

    @Test func aLargeAnswerIsStoredInAFileAndRemovedWithItsTask() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(7, length: 3 << 20)
        fixture.server.serve("/big", version)
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await add(.get, "/big", to: manager, fixture)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        var bytes: [UInt8] = []
        while true {
            let page = try await manager.bytes.result(
                of: id, offset: Int64(bytes.count), length: 1 << 20, for: ManagerFixture.caller)
            bytes += page.bytes
            if page.isLast { break }
        }
        #expect(bytes == version.bytes)
        let spool = manager.services.spool
        try await eventually("the file is settled") { try spool.settledNames().count == 1 }
        _ = try await manager.tasks.apply(.remove, to: [id], for: ManagerFixture.caller)
        try await eventually("the file is gone") { try spool.settledNames().isEmpty }
        await manager.shutdown(.suspend)
    }

    @Test func anAnswerWithAnErrorStatusIsKeptBesideTheError() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/no") { _ in Reply(422, headers: [Self.json], text: "{\"why\": \"because\"}") }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await add(.post, "/no", to: manager, fixture)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed)
        #expect(task.error?.reason == .httpStatus)
        let page = try await result(id, manager)
        #expect(String(decoding: page.bytes, as: UTF8.self) == "{\"why\": \"because\"}")
        await manager.shutdown(.suspend)
    }

    @Test func aPostWhoseAnswerIsLostIsNotSentTwice() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        fixture.server.on("/hook") { _ in
            var reply = Reply(200)
            reply.rawHead = []
            reply.ending = .reset
            return reply
        }
        let id = try await add(.post, "/hook", .bytes(InlineBytes([1])), to: manager, fixture)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed)
        #expect(task.error?.reason == .outcomeUnknown)
        #expect(fixture.server.requests(to: "/hook").count == 1)

        fixture.server.on("/keyed") { request in
            var reply = Reply(200, text: "done")
            if request.index < 2 {
                reply.rawHead = []
                reply.body = []
                reply.ending = .reset
            }
            return reply
        }
        let keyed = try await add(
            .post, "/keyed", .bytes(InlineBytes([1])), to: manager, fixture,
            headers: [HeaderField(name: "Idempotency-Key", value: "k1")])
        #expect(try await fixture.end(of: keyed, in: manager).state == .completed)
        #expect(fixture.server.requests(to: "/keyed").count == 2)
        await manager.shutdown(.suspend)
    }

    @Test func aRestartDoesNotSendAPostAgain() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.on("/hook") { _ in
            var reply = Reply(200, text: "late")
            reply.headGate = gate
            return reply
        }
        let first = try await fixture.open()
        try await first.start()
        let post = try await add(.post, "/hook", .bytes(InlineBytes([1])), to: first, fixture)
        let put = try await add(.put, "/hook", .bytes(InlineBytes([2])), to: first, fixture)
        try await eventually("both arrived") { fixture.server.requests(to: "/hook").count == 2 }
        #expect(try await first.tasks.apply(.pause, to: [post], for: ManagerFixture.caller).changed == [])
        await first.shutdown(.suspend)
        gate.open()
        let second = try await fixture.open()
        try await second.start()
        let task = try await fixture.end(of: post, in: second)
        #expect(task.error?.reason == .outcomeUnknown)
        #expect(try await fixture.end(of: put, in: second).state == .completed)
        let bodies = fixture.server.requests(to: "/hook").map(\.body)
        #expect(bodies.filter { $0 == [1] }.count == 1)
        #expect(bodies.filter { $0 == [2] }.count == 2)
        let terminal = try await fixture.events(of: post, in: second).filter(\.isTerminal)
        #expect(terminal == [.taskFailed])
        await second.shutdown(.suspend)
    }

    @Test func anUploadReadsItsFileAndFailsWhenThatChanged() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.onAnyOther { _ in Reply(201, text: "") }
        let manager = try await fixture.open()
        try await manager.start()
        let path = fixture.directory.file("source")
        try FileTree.write("content", to: path)
        let body = XferModel.RequestContent.file(FileReference(path: path, field: "source"))
        let whole = try await add(.put, "/a", body, to: manager, fixture) {
            $0.kind = .upload
            $0.startsPaused = true
        }
        let spooled = try await add(.put, "/b", body, to: manager, fixture) {
            $0.kind = .upload
            $0.startsPaused = true
            $0.upload.isSpooled = true
        }
        try FileTree.write("CONTENT!", to: path)
        let fresh = try await add(.put, "/c", body, to: manager, fixture) { $0.kind = .upload }
        _ = try await manager.tasks.apply(.resume, to: [whole, spooled], for: ManagerFixture.caller)
        let stale = try await fixture.end(of: whole, in: manager)
        #expect(stale.error?.reason == .sourceFileChanged)
        #expect(try await fixture.end(of: spooled, in: manager).state == .completed)
        let sent = try await fixture.end(of: fresh, in: manager)
        #expect((sent.state, sent.sent, sent.total) == (.completed, 8, 8))
        #expect(fixture.server.requests(to: "/a").isEmpty)
        #expect(fixture.server.requests(to: "/b").map(\.body) == [Array("content".utf8)])
        #expect(fixture.server.requests(to: "/c").map(\.body) == [Array("CONTENT!".utf8)])
        try await eventually("the copy is gone") { try manager.services.spool.settledNames().isEmpty }
        await manager.shutdown(.suspend)
    }

    @Test func filesLeftInTheSpoolDirectoryByACrashAreRemoved() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let spool = manager.services.spool
        do {
            let orphan = try spool.makeFile()
            try orphan.keep()
            #expect(try spool.settledNames().isEmpty)
        }
        #expect(try spool.settledNames().count == 1)
        try await manager.start()
        try await eventually("the orphan is gone") { try spool.settledNames().isEmpty }
        await manager.shutdown(.suspend)
    }
}
