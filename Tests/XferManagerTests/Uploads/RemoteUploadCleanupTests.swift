import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// The manager deletes cancelled uploads on their servers.
@Suite struct RemoteUploadCleanupTests {
    /// After every try that may be planned.
    private static let later = Timestamp(seconds: 1 << 40)

    /// Cancels an upload that its server keeps the beginning of, and gives the gate its last request is held by.
    private func cancelAnUpload(
        in manager: TransferManager, _ fixture: ManagerFixture,
        delete: @escaping @Sendable (RecordedRequest) -> Reply,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        let gate = Gate()
        fixture.server.onAnyOther { request in
            switch request.method {
            case "POST": return Reply(201, headers: [HeaderField(name: "Location", value: "/u")], text: "")
            case "DELETE": return delete(request)
            default:
                var reply = Reply(204)
                reply.headGate = gate
                return reply
            }
        }
        var request = RequestFields(kind: .upload)
        request.method = .post
        request.content = .bytes(InlineBytes([1, 2, 3]))
        let draft = TaskDraft(url: fixture.server.url("/files"), request: request) { request in
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: fixture.downloads), kind: .upload)
            specification.upload.uploadProtocol = .tus
            change(&specification)
            return specification
        }
        let id = try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id
        await gate.arrived()
        #expect(try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller).changed == [id])
        gate.open()
        return id
    }

    private func deletions(_ fixture: ManagerFixture) -> [RecordedRequest] {
        fixture.server.requests.filter { $0.method == "DELETE" }
    }

    private func isForgotten(_ manager: TransferManager) async throws -> Bool {
        try await manager.store.read { try $0.abandonedUploads.due(now: Self.later, limit: 1) }.isEmpty
    }

    @Test(arguments: [204, 404, 410, 403]) func aConfirmedDeletionIsNotRepeated(status: Int) async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        _ = try await cancelAnUpload(in: manager, fixture, delete: { _ in Reply(status, text: "") })
        try await eventually("the server gets the DELETE") { deletions(fixture).count == 1 }
        try await eventually("nothing is left to do") { try await isForgotten(manager) }
        #expect(deletions(fixture).count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func anUnavailableServerIsAskedAgainEvenByTheNextDaemon() async throws {
        let fixture = try await ManagerFixture()
        let first = try await fixture.open()
        try await first.start()
        // POST, PATCH, and two tries in vain.
        _ = try await cancelAnUpload(in: first, fixture, delete: { Reply($0.index < 4 ? 503 : 204, text: "") })
        try await eventually("the server is asked") { !deletions(fixture).isEmpty }
        await first.shutdown(.suspend)
        let second = try await fixture.open()
        try await second.start()
        try await eventually("nothing is left to do", within: Patience.long) { try await isForgotten(second) }
        #expect(deletions(fixture).count >= 2)
        await second.shutdown(.suspend)
    }

    /// The secret is read at every try, not copied when the task was cancelled.
    @Test func theCredentialIsReadAgainAtEveryTry() async throws {
        let fixture = try await ManagerFixture()
        let path = fixture.directory.file("token")
        try FileTree.write("first", to: path, mode: 0o600)
        let manager = try await fixture.open()
        try await manager.start()
        let delete: @Sendable (RecordedRequest) -> Reply = { request in
            if request.header("Authorization") == "Bearer second" { return Reply(204, text: "") }
            try? FileTree.write("second", to: path, mode: 0o600)
            return Reply(503, text: "")
        }
        _ = try await cancelAnUpload(in: manager, fixture, delete: delete) {
            $0.request.credential = Credential(scheme: .bearer, user: "", secret: .file(path))
        }
        try await eventually("nothing is left to do", within: Patience.long) { try await isForgotten(manager) }
        #expect(deletions(fixture).map { $0.header("Authorization") } == ["Bearer first", "Bearer second"])
        await manager.shutdown(.suspend)
    }

    @Test func aServerDeniedByTheAdmissionListsIsNotContacted() async throws {
        let fixture = try await ManagerFixture()
        let first = try await fixture.open()
        try await first.start()
        let gate = Gate()
        _ = try await cancelAnUpload(
            in: first, fixture,
            delete: { _ in
                var reply = Reply(503, text: "")
                reply.headGate = gate
                return reply
            })
        await gate.arrived()
        gate.open()
        await first.shutdown(.suspend)
        let before = deletions(fixture).count
        let denied = [try HostPattern("127.0.0.1")]
        let second = try await fixture.open(change: { $0.admission = AdmissionLists(deniedHosts: denied) })
        try await second.start()
        try await eventually("a try has failed", within: Patience.long) {
            try await second.store.read { try $0.abandonedUploads.due(now: Self.later, limit: 1) }
                .first.map { $0.attempts > 1 } ?? false
        }
        #expect(deletions(fixture).count == before)
        await second.shutdown(.suspend)
    }
}
