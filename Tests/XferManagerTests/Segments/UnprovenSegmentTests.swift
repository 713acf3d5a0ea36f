import Testing
import XferCore
import XferCurl
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Segments whose bytes only a digest holds together: another node behind the name sends the rear under a tag of its own.
@Suite struct UnprovenSegmentTests {
    /// A crash at any moment finds the mark beside the bytes: no byte counts before the mark is committed.
    @Test func bytesOfAnUnprovenSegmentCountOnceThatIsCommitted() async throws {
        let source = SourceVersion(seed: 76, length: SegmentFixture.length, etag: "\"front\"")
        var rear = source
        rear.etag = "\"rear\""
        let node = rear
        // No checkpoint is due, and so nothing is paused, while this test holds the lock.
        let segmented = try await SegmentFixture(source) { $0.checkpointInterval = .seconds(600) }
        let manager = segmented.manager
        let (bodies, head) = (Gate(), Gate())
        segmented.fixture.server.on("/f") { request in
            let version = request.header("Range") == nil ? source : node
            var reply = version.honestReply(to: request)
            if reply.status == 206 { Fault.stallHead(until: head).apply(to: &reply, request, version) }
            Fault.stall(at: 20_000, until: bodies).apply(to: &reply, request, version)
            return reply
        }
        let checksum = source.checksum()
        let id = try await segmented.fixture.add("/f", as: "f", to: manager) {
            $0.segments = .exactly(2)
            $0.checksum = checksum
        }
        // The node refuses If-Range with a whole of its own, which is not read. Then it is asked for the plain range.
        await head.arrived()
        let transfer = try #require(await manager.scheduler.runs[id]?.transfer)
        let shared = try #require(await manager.scheduler.transfers[transfer]?.shared)
        let checkpointing = try #require(await shared.checkpointing)
        await checkpointing.enter()
        head.open()
        try await eventually("the rear's first bytes have come, and its response is accepted") {
            let bytes = shared.control.attempts.map(\.progress.snapshot.received).sorted()
            return await shared.use.unprovenFrom != nil && bytes == [20_000, 20_000]
        }
        var connections = try #require(await shared.connections)
        connections.recordProgress()
        #expect(connections.handle(of: 0) != nil && connections.handle(of: 1) == nil)
        #expect(connections.plan?.writtenByteCount == 20_000)
        func mark() async throws -> Int64? {
            try await manager.store.read { try $0.transfers.find(transfer)?.sourceUse.unprovenFrom }
        }
        #expect(try await mark() == nil)
        checkpointing.leave()
        try await eventually("the rear's bytes count") { await shared.connections?.handle(of: 1) != nil }
        let offset = try #require(try await mark())
        #expect(segmented.asked.contains { $0.lowerBound == offset && offset > 0 })
        bodies.open()
        try await segmented.completes(id)
        await segmented.end()
    }
}

extension SharedTransfer {
    fileprivate var use: SourceUse { sources.selector.use }
}
