import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl
@testable import XferManager

/// `checkpoint_bytes` is a transfer's, however many connections bring its bytes.
@Suite struct CheckpointShareTests {
    @Test func eightConnectionsTogetherHaveNoMoreUnsavedBytesThanOne() async throws {
        let limit: Int64 = 2 << 20
        let source = SourceVersion(seed: 160, length: 24 << 20, etag: "\"v160\"")
        let segmented = try await SegmentFixture(source) { $0.checkpointBytes = limit }
        let gate = Gate()
        segmented.served.always(.stall(at: 1000, until: gate))
        let id = try await segmented.add(.exactly(8))
        await gate.arrived(8)
        let transfer = try #require(await segmented.manager.scheduler.runs[id]?.transfer)
        let shared = try #require(await segmented.manager.scheduler.transfers[transfer]?.shared)
        // No checkpoint ends from now on.
        let checkpointing = try #require(await shared.checkpointing)
        await checkpointing.enter()
        let engine = segmented.manager.services.engine
        gate.open()
        try await eventually("every connection waits for a checkpoint") {
            let attempts = shared.control.attempts
            for attempt in attempts where await engine.isPaused(attempt.id) != true { return false }
            return attempts.count == 8
        }
        let unsynced = shared.control.progress.received - (await shared.keptByteCount)
        #expect(unsynced <= limit, "\(unsynced) bytes")
        checkpointing.leave()
        try await segmented.completes(id)
        await segmented.end()
    }
}
