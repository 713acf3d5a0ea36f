import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferManager

/// Parts that the client did not request, and what the cache makes of them.
@Suite struct UnaskedPartTests {
    private static let source = SourceVersion.tagged(44, length: 100_000)

    /// Half of the source, or all of it, as a part with everything that lets a cache keep it.
    private static func part(_ range: Range<Int64>) -> Reply {
        Reply(
            206,
            headers: [
                ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(source.length)"),
                ("Content-Length", "\(range.count)"), ("ETag", "\"v44\""), ("Cache-Control", "max-age=3600"),
            ].map { HeaderField(name: $0.0, value: $0.1) }, body: [.source(source, range)])
    }

    private func add(
        _ kind: TaskKind, to manager: TransferManager, _ fixture: ManagerFixture, as name: String? = nil
    ) async throws -> TransferTask {
        let draft = TaskDraft(url: fixture.server.url("/x"), request: RequestFields(kind: kind)) { request in
            var request = request
            request.caching = CachingOptions(policy: .protocol, stores: true)
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: fixture.downloads, name: name), kind: kind)
            specification.retry = RetryLimits(maxRetries: 0, retryFor: 0)
            return specification
        }
        let id = try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id
        return try await fixture.end(of: id, in: manager)
    }

    @Test func halfAFileIsNeitherAnAnswerNorKept() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/x") { request in
            request.index == 0 ? Self.part(0..<50_000) : Self.source.honestReply(to: request)
        }
        let manager = try await fixture.open()
        try await manager.start()
        let data = try await add(.data, to: manager, fixture)
        #expect(data.state == .failed)
        #expect(data.error?.reason == .rangeMismatch)
        let download = try await add(.download, to: manager, fixture, as: "x")
        #expect(download.state == .completed)
        #expect(try FileTree.read("\(fixture.downloads)/x") == Self.source.bytes)
        #expect(fixture.server.requests(to: "/x").count == 2)
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [TaskKind.data, .download])
    func anUnrequestedPartThatIsTheWholeCompletesAndIsNotCached(kind: TaskKind) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/x") { _ in Self.part(0..<Self.source.length) }
        let manager = try await fixture.open()
        try await manager.start()
        for count in 1...2 {
            let task = try await add(kind, to: manager, fixture, as: kind == .download ? "x\(count)" : nil)
            #expect(task.state == .completed)
            #expect(task.received == Self.source.length)
            #expect(fixture.server.requests(to: "/x").count == count)
        }
        await manager.shutdown(.suspend)
    }
}
