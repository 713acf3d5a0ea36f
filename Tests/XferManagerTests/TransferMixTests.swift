import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferManager

/// Large files that have started before their sizes were known.
@Suite struct TransferMixTests {
    @Test func largeFilesBeyondTheirMostReturnToTheQueueAndLoseNothing() async throws {
        let fixture = try await ManagerFixture()
        let (heads, gate) = (Gate(), Gate())
        let manager = try await fixture.open(change: { settings in
            (settings.maxActive, settings.maxActivePerHost) = (nil, 100)
            settings.largeYouth = Patience.long
        })
        var ids: [TaskID] = []
        for number in 0..<TransferMix.first {
            let version = SourceVersion.tagged(UInt64(number), length: TransferMix.largeLength + 1)
            fixture.server.serve("/\(number)", version).always(
                .stallHead(until: heads), .stall(at: 400_000, until: gate))
            ids.append(try await fixture.add("/\(number)", as: "f\(number)", to: manager))
        }
        try await manager.start()
        // No size is known before all have started.
        try await eventually("all have started") { fixture.server.requests.count == TransferMix.first }
        heads.open()
        let returned = try await eventually("some are queued again") { () -> TransferTask? in
            var tasks: [TransferTask] = []
            for id in ids { tasks.append(try await manager.queries.task(id, for: ManagerFixture.caller)) }
            let queued = tasks.filter { $0.state == .queued && $0.startedAt != nil }
            let isSettled = queued.count == TransferMix.first - TransferMix.mostLargeStarted
            return isSettled && tasks.count { $0.state == .running } == TransferMix.mostLargeStarted
                ? queued.first : nil
        }
        #expect(returned.attempts == 0, "an attempt was counted")
        gate.open()
        let ended = try await fixture.end(of: returned.id, in: manager)
        #expect(ended.state == .completed)
        let events = try await fixture.events(of: returned.id, in: manager)
        #expect(events.filter { $0 == .taskStarted }.count == 2 && !events.contains(.taskBytesDiscarded))
        await manager.shutdown(.suspend)
    }
}
