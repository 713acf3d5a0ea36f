import NIOConcurrencyHelpers
import Testing
import XferFiles
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// What every attempt of every run does: an upload a server continues, one in one request, and a `data` task.
@Suite struct UploadRunTests {
    static let kinds: [(TaskKind, UploadProtocol)] = [
        (.data, .plain), (.upload, .plain), (.upload, .tus), (.upload, .resumable),
    ]

    /// A task with content; what answers it is at `/files` and `/u`.
    private func add(
        _ kind: (TaskKind, UploadProtocol), to manager: TransferManager, _ fixture: ManagerFixture,
        content: [UInt8] = Array(repeating: 7, count: 5000),
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        var request = RequestFields(kind: kind.0)
        request.method = .post
        request.content = .bytes(InlineBytes(content))
        let draft = TaskDraft(url: fixture.server.url("/files"), request: request) { request in
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: fixture.downloads), kind: kind.0)
            specification.upload.uploadProtocol = kind.1
            change(&specification)
            return specification
        }
        return try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id
    }

    /// A server that speaks just enough of tus, and of plain HTTP; every answer has these fields and this body.
    private func serve(_ fixture: ManagerFixture, _ fields: [HeaderField] = [], body: String = "") {
        fixture.server.onAnyOther { request in
            let isTus = request.header("Tus-Resumable") != nil
            switch request.method {
            case "POST" where isTus:
                return Reply(201, headers: fields + [HeaderField(name: "Location", value: "/u")], text: body)
            case "PATCH":
                let offset = HeaderField(name: "Upload-Offset", value: String(request.body.count))
                return Reply(204, headers: fields + [offset])
            default:
                return Reply(200, headers: fields, text: body)
            }
        }
    }

    @Test(arguments: kinds) func cookiesOfAnUploadAreKept(kind: (TaskKind, UploadProtocol)) async throws {
        let fixture = try await ManagerFixture()
        serve(fixture, [HeaderField(name: "Set-Cookie", value: "lasting=1; Max-Age=3600")])
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.store.write { try $0.profiles.set(Profile(name: "jar"), isConfigured: false) }
        let id = try await add(kind, to: manager, fixture) {
            $0.profile = "jar"
            $0.request.usesCookies = true
        }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try await manager.store.read { try $0.cookies.list(ofProfile: "jar") }.map(\.name) == ["lasting"])
        await manager.shutdown(.suspend)
    }

    /// Seen while the server holds its answer's end back: the run knows by then who answers.
    @Test(arguments: kinds) func theServerThatAnswersAnUploadIsRecorded(kind: (TaskKind, UploadProtocol)) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.onAnyOther { _ in
            Reply(
                200, headers: [HeaderField(name: "Content-Length", value: "2")],
                body: [.bytes([1]), .gate(gate), .bytes([2])])
        }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await add(kind, to: manager, fixture)
        await gate.arrived()
        try await eventually("the server is noted") {
            await manager.scheduler.runs[id]?.trust.unrecordedSources(isLast: true)?.count == 1
        }
        gate.open()
        _ = try await fixture.end(of: id, in: manager)
        await manager.shutdown(.suspend)
    }

    /// At one byte per second none of these would end within the test. While the engine takes the attempt over there is
    /// nothing to tell the change to: who holds the policies holds the attempt's start.
    @Test(arguments: kinds) func aLimitChangedAtTheStartOfAnUploadApplies(kind: (TaskKind, UploadProtocol)) async throws
    {
        let fixture = try await ManagerFixture()
        serve(fixture, body: String(repeating: "x", count: 5000))
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await add(kind, to: manager, fixture) {
            $0.startsPaused = true
            $0.maxReceiveRate = 1
            $0.maxSendRate = 1
        }
        let policies = manager.services.policies
        let (isHeld, door) = (Gate(), ConditionLock(value: false))
        async let holding: Void = offThread {
            policies.withLockedValue { _ in
                isHeld.open()
                door.lock(whenValue: true)
                door.unlock()
            }
        }
        await isHeld.wait()
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        try await eventually("the run is there") { await manager.scheduler.runs[id] != nil }
        let unlimited = TaskChanges.changing {
            $0.limits.maxReceiveRate = .set(0)
            $0.limits.maxSendRate = .set(0)
        }
        _ = try await manager.tasks.update(id, unlimited, for: ManagerFixture.caller)
        door.lock()
        door.unlock(withValue: true)
        try await holding
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test(arguments: kinds) func anAnswerWithoutRoomOnTheDiskWaitsForSpace(kind: (TaskKind, UploadProtocol))
        async throws
    {
        let fixture = try await ManagerFixture()
        serve(fixture, body: String(repeating: "x", count: 5000))
        let manager = try await fixture.open(change: { settings in
            settings.reserve = 1 << 60
            settings.largestInlineResult = 1000
        })
        try await manager.start()
        let id = try await add(kind, to: manager, fixture) { $0.retriesNonIdempotent = true }
        try await eventually("the task waits") {
            try await manager.store.read { try $0.tasks.find(id) }?.wait?.reason == .insufficientSpace
        }
        #expect(try manager.services.spool.settledNames().isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test(arguments: kinds) func anAnswerLargerThanTheLimitFailsTheUpload(kind: (TaskKind, UploadProtocol)) async throws
    {
        let fixture = try await ManagerFixture()
        serve(fixture, body: String(repeating: "x", count: 5000))
        let manager = try await fixture.open(change: { settings in
            settings.largestInlineResult = 1000
            settings.largestResult = 4999
        })
        try await manager.start()
        let id = try await add(kind, to: manager, fixture)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.error?.reason == .lengthMismatch)
        #expect(task.error?.message.contains("4999 bytes") == true)
        #expect(try manager.services.spool.settledNames().isEmpty)
        await manager.shutdown(.suspend)
    }
}
