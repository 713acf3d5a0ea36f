import Testing
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// A manager that splits downloads of a few hundred kilobytes, and a server that does what it is told to each request.
struct SegmentFixture {
    static let caller = ManagerFixture.caller
    static let length: Int64 = 400_000

    let fixture: ManagerFixture
    let manager: TransferManager
    let served: ServedSource
    let source: SourceVersion

    init(
        _ source: SourceVersion = SourceVersion(
            seed: 70, length: length, etag: "\"v70\"", lastModified: HTTPDate.text(1_700_000_000)),
        change: (inout ManagerSettings) -> Void = { _ in }
    ) async throws {
        self.source = source
        fixture = try await ManagerFixture()
        served = fixture.server.serve("/f", source)
        manager = try await fixture.open(change: {
            $0.smallestSegment = 16 << 10
            change(&$0)
        })
        try await manager.start()
    }

    func add(
        _ segments: SegmentCount?, as name: String = "f", maxReceiveRate: Int64 = 0, maxRetries: Int? = 0
    ) async throws -> TaskID {
        try await fixture.add("/f", as: name, to: manager, maxReceiveRate: maxReceiveRate) {
            $0.segments = segments
            $0.retry.maxRetries = maxRetries
        }
    }

    /// A task of which each of four connections has brought 20,000 bytes, paused; its server goes on once the gate is
    /// open.
    func pausedWithGaps() async throws -> (id: TaskID, gate: Gate) {
        let gate = Gate()
        served.always(.stall(at: 20_000, until: gate))
        let id = try await add(.exactly(4))
        await gate.arrived(4)
        try await eventually("each has its part") { await manager.queries.progress(of: [id])[id]?.received == 80_000 }
        _ = try await manager.tasks.apply(.pause, to: [id], for: Self.caller)
        try await eventually("it has stopped") { await manager.scheduler.runs[id] == nil }
        return (id, gate)
    }

    var requests: [RecordedRequest] { fixture.server.requests(to: "/f") }

    /// Offsets that were asked for, in the order they were; the whole without a range.
    var asked: [Range<Int64>] {
        requests.map { request in
            let parts = request.header("Range")?.dropFirst(6).split(separator: "-").compactMap { Int64($0) } ?? []
            let end = parts.count > 1 ? parts[1] + 1 : source.length
            return (parts.first ?? 0)..<end
        }
    }

    /// Whether ranges have come as they were asked for, or there will be but one connection.
    func isSettled(_ id: TaskID) async -> Bool {
        guard let transfer = await manager.scheduler.runs[id]?.transfer,
            let shared = await manager.scheduler.transfers[transfer]?.shared,
            let connections = await shared.connections, let plan = connections.plan
        else { return false }
        return plan.isProven || connections.live.count == 1 && plan.wantedConnections == 1 && plan.widening() == nil
    }

    func task(_ id: TaskID) async throws -> TransferTask { try await manager.queries.task(id, for: Self.caller) }

    /// It completes with these bytes, and nothing is left lying about.
    @discardableResult
    func completes(_ id: TaskID, as version: SourceVersion? = nil, _ comment: Comment? = nil) async throws
        -> TransferTask
    {
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed, "\(String(describing: task.error)) \(comment ?? "")")
        #expect(try (version ?? source).equals(file: "\(fixture.downloads)/f"), comment)
        #expect(task.received == (version ?? source).length)
        try await eventually("nothing is left over") { try fixture.files() == ["f"] }
        return task
    }

    func end() async { await manager.shutdown(.suspend) }
}

extension SharedTransfer {
    var connections: SegmentConnections? { segmented?.connections }
    var checkpointing: AsyncLock? { segmented?.checkpointing }
}
