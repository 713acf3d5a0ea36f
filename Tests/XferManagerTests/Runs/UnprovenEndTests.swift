import Testing
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Bodies without a length over TLS, whose connection ends without close_notify: only a digest shows that they are whole
/// (RFC 8446 §6.1). A task that demands one may take such a body; a task that shares it has to verify the same.
@Suite struct UnprovenEndTests {
    private static let version = SourceVersion.tagged(180, length: 200_000)
    private static let cut: Int64 = 100_000
    private static let end: Int64 = 150_000

    /// A server behind TLS whose first answer stops at 100,000 bytes until the gate opens, and ends at 150,000.
    private struct World {
        let fixture: ManagerFixture
        let manager: TransferManager
        let front: TLSServer
        let gate = Gate()

        init() async throws {
            fixture = try await ManagerFixture()
            let authority = try TestCA()
            let leaf = try authority.issue()
            let caFile = fixture.directory.file("ca.pem")
            try FileTree.write(authority.pem, to: caFile)
            var options = TLSServer.Options(chain: authority.chain(for: leaf), privateKey: leaf.privateKey)
            options.backend = fixture.server.port
            front = try TLSServer(options)
            fixture.server.serve(
                "/f", UnprovenEndTests.version,
                faults: [
                    [
                        .untilClose, .stall(at: UnprovenEndTests.cut, until: gate),
                        .drop(after: UnprovenEndTests.end, by: .close),
                    ]
                ])
            manager = try await fixture.open(change: {
                $0.authoritiesFile = caFile
                $0.retry = RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1))
                $0.checkpointInterval = .milliseconds(40)
            })
            try await manager.start()
        }

        func add(_ name: String, _ checksum: Checksum?) async throws -> TaskID {
            try await fixture.add(url: "https://localhost:\(front.port)/f", as: name, to: manager) {
                $0.checksum = checksum
            }
        }

        func hasFirstBytes(_ ids: TaskID...) async throws {
            try await eventually("the first bytes came") {
                let progress = await manager.queries.progress(of: ids)
                return progress.count == ids.count
                    && progress.values.allSatisfy { $0.received >= UnprovenEndTests.cut }
            }
        }

        func completes(_ id: TaskID, _ name: String) async throws {
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed, "\(name): \(String(describing: task.error))")
            #expect(try UnprovenEndTests.version.equals(file: "\(fixture.downloads)/\(name)"), "\(name)")
        }

        func end() async {
            await manager.shutdown(.suspend)
            front.stop()
        }
    }

    /// The task with the digest has made the request; the other one joins when half of the body is there.
    @Test(arguments: [Checksum.Algorithm.sha256, .md5])
    func aTaskThatJoinsABodyWithoutAProvenEndDoesNotPublishItUnverified(algorithm: Checksum.Algorithm) async throws {
        let world = try await World()
        let first = try await world.add("a", Self.version.checksum(algorithm))
        try await world.hasFirstBytes(first)
        let second = try await world.add("b", nil)
        try await world.hasFirstBytes(first, second)
        #expect(world.fixture.server.requests.count == 1, "they share")
        world.gate.open()
        try await world.completes(first, "a")
        try await world.completes(second, "b")
        for id in [first, second] {
            let discards = try await world.fixture.events(of: id, in: world.manager)
                .filter { $0 == .taskBytesDiscarded }
            #expect(discards.count == 1)
        }
        await world.end()
    }

    /// Without a digest it is no body at all, and its bytes are continued.
    @Test func aBodyWithoutAProvenEndIsContinuedIfATaskDemandsNoDigest() async throws {
        let world = try await World()
        let first = try await world.add("a", nil)
        try await world.hasFirstBytes(first)
        let second = try await world.add("b", Self.version.checksum())
        try await world.hasFirstBytes(first, second)
        world.gate.open()
        try await world.completes(first, "a")
        try await world.completes(second, "b")
        #expect(world.fixture.server.requests.map { $0.header("Range") }.prefix(2) == [nil, "bytes=150000-"])
        await world.end()
    }

    /// The mark is committed, so that a further run does not take the bytes for whole by their length.
    @Test func anUnprovenEndIsRecordedWithItsBytes() async throws {
        let world = try await World()
        let id = try await world.add("a", Self.version.checksum())
        try await world.hasFirstBytes(id)
        let transfer = try #require(await world.manager.scheduler.runs[id]?.transfer)
        let shared = try #require(await world.manager.scheduler.transfers[transfer]?.shared)
        let other = SourceVersion.tagged(181, length: 1).checksum()
        try await shared.acceptEnd(at: Self.end, provenBy: other)
        #expect(await shared.bindingDigest == other)
        let use = try await world.manager.store.read { try $0.transfers.find(transfer)?.sourceUse }
        #expect(use?.unprovenFrom == Self.end)
        world.gate.open()
        try await world.completes(id, "a")
        await world.end()
    }
}

extension SharedTransfer {
    var bindingDigest: Checksum? { kept.bindingDigest }
    var hasHead: Bool { response.head != nil }

    /// As if a response continued the kept bytes under a digest whose task has left.
    func joinUnproven(under digest: Checksum, at offset: Int64) {
        response.joinDigest = digest
        acceptBody(from: sources[0], at: offset, isUnproven: true)
    }
}
