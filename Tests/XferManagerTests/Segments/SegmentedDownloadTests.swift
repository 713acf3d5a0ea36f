import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// Downloads in segments from servers that do as RFC 9110 says.
@Suite struct SegmentedDownloadTests {
    @Test func eightConnectionsFetchOneFile() async throws {
        let segmented = try await SegmentFixture()
        let gate = Gate()
        segmented.served.always(.stall(at: 1000, until: gate))
        let id = try await segmented.add(.exactly(8))
        try await eventually("eight ask") { segmented.requests.count == 8 }
        gate.open()
        try await segmented.completes(id)

        let requests = segmented.requests
        #expect(requests[0].header("Range") == nil)
        #expect(requests.dropFirst().allSatisfy { $0.header("If-Range") == "\"v70\"" })
        // The seven others request the rear of the first request once more.
        // A connection that is done early may then take over a part.
        let parts = segmented.asked[1..<8].sorted { $0.lowerBound < $1.lowerBound }
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(parts.last?.upperBound == SegmentFixture.length)
        await segmented.end()
    }

    @Test(arguments: [nil, SegmentCount.one]) func aSingleSegmentIsOneRequest(_ count: SegmentCount?) async throws {
        let segmented = try await SegmentFixture()
        try await segmented.completes(try await segmented.add(count))
        #expect(segmented.requests.count == 1)
        await segmented.end()
    }

    @Test func aChangedSegmentCountContinuesTheKeptBytes() async throws {
        let segmented = try await SegmentFixture()
        let gate = Gate()
        segmented.served.always(.stall(at: 20_000, until: gate))
        let id = try await segmented.add(.one)
        try await eventually("it brings bytes") {
            await segmented.manager.queries.progress(of: [id])[id]?.received == 20_000
        }
        let four = TaskChanges.changing { $0.limits.segments = .set(.exactly(4)) }
        await #expect(throws: ManagerError.self) {
            try await segmented.manager.tasks.update(id, four, for: SegmentFixture.caller)
        }
        _ = try await segmented.manager.tasks.apply(.pause, to: [id], for: SegmentFixture.caller)
        try await eventually("it has stopped") { await segmented.manager.scheduler.runs[id] == nil }
        let changed = try await segmented.manager.tasks.update(id, four, for: SegmentFixture.caller)
        #expect(changed.specification.segments == .exactly(4))
        _ = try await segmented.manager.tasks.apply(.resume, to: [id], for: SegmentFixture.caller)
        try await eventually("four more ask") { segmented.requests.count == 5 }
        #expect(segmented.asked.dropFirst().map(\.lowerBound).min() == 20_000)
        gate.open()
        try await segmented.completes(id)
        await segmented.end()
    }

    @Test func theConfiguredSegmentCountAppliesToTasksWithoutOne() async throws {
        let segmented = try await SegmentFixture { $0.segments = .exactly(3) }
        let gate = Gate()
        segmented.served.always(.stall(at: 1000, until: gate))
        let id = try await segmented.add(nil)
        try await eventually("three ask") { segmented.requests.count == 3 }
        gate.open()
        try await segmented.completes(id)
        await segmented.end()
    }

    @Test func theHighestSegmentCountOfSharingTasksApplies() async throws {
        let segmented = try await SegmentFixture { $0.maxActive = 1 }
        let gate = Gate()
        segmented.fixture.server.on("/blocker") { _ in
            await gate.wait()
            return Reply(200, text: "x")
        }
        let blocker = try await segmented.fixture.add("/blocker", as: "blocker", to: segmented.manager)
        let ids = [
            try await segmented.add(.one, as: "a"), try await segmented.add(.exactly(4), as: "b"),
            try await segmented.add(.exactly(2), as: "c"),
        ]
        let held = Gate()
        segmented.served.always(.stall(at: 1000, until: held))
        gate.open()
        _ = try await segmented.fixture.end(of: blocker, in: segmented.manager)
        try await eventually("four ask") { segmented.requests.count == 4 }
        held.open()
        for (id, name) in zip(ids, ["a", "b", "c"]) {
            #expect(try await segmented.fixture.end(of: id, in: segmented.manager).state == .completed)
            #expect(try segmented.source.equals(file: "\(segmented.fixture.downloads)/\(name)"))
        }
        await segmented.end()
    }

    @Test func aPauseKeepsTheBytesOfEachConnectionAndARestartContinuesThere() async throws {
        let segmented = try await SegmentFixture()
        let (id, gate) = try await segmented.pausedWithGaps()
        let paused = try await segmented.task(id)
        #expect(paused.received == 80_000)
        let segments = try await segmented.manager.queries.segments(of: [paused])[id]
        #expect(segments?.count == 4)
        #expect(segments?.allSatisfy { $0.committed - $0.start == 20_000 } == true)

        await segmented.manager.shutdown(.suspend)
        let manager = try await segmented.fixture.open(change: { $0.smallestSegment = 16 << 10 })
        try await manager.start()
        let before = segmented.requests.count
        segmented.served.always()
        gate.open()
        _ = try await manager.tasks.apply(.resume, to: [id], for: SegmentFixture.caller)
        #expect(try await segmented.fixture.end(of: id, in: manager).state == .completed)
        #expect(try segmented.source.equals(file: "\(segmented.fixture.downloads)/f"))
        // Nothing that was durable is asked for again.
        let asked = segmented.asked.dropFirst(before)
        for range in asked {
            for segment in segments ?? [] { #expect(!range.overlaps(segment.start..<segment.committed)) }
        }
        #expect(asked.count >= 4)
        await manager.shutdown(.suspend)
    }

    @Test func aFileThatWasCutWhilePausedIsFetchedAgainAsAWhole() async throws {
        let segmented = try await SegmentFixture()
        let (id, gate) = try await segmented.pausedWithGaps()
        let kept = try #require(try await segmented.manager.queries.segments(of: [try await segmented.task(id)])[id])
        let cut = kept[2].start + 10_000
        let name = try #require(try segmented.fixture.files().first { $0.hasSuffix(".part") })
        let path = "\(segmented.fixture.downloads)/\(name)"
        try FileTree.write(Array(try FileTree.read(path).prefix(Int(cut))), to: path, mode: 0o600)
        let before = segmented.requests.count
        segmented.served.always()
        gate.open()
        _ = try await segmented.manager.tasks.apply(.resume, to: [id], for: SegmentFixture.caller)
        try await segmented.completes(id)
        // The program that cut the file may have changed the rest, too.
        let asked = segmented.asked.dropFirst(before)
        #expect(asked.contains { $0.lowerBound == 0 })
        await segmented.end()
    }

    @Test func aBrokenConnectionIsContinuedByAnother() async throws {
        let segmented = try await SegmentFixture()
        let gate = Gate()
        segmented.served.always(.stall(at: 1000, until: gate))
        let id = try await segmented.add(.exactly(2))
        await gate.arrived(2)
        // The first goes on for ever, the second breaks off.
        await segmented.fixture.server.resetConnections()
        segmented.served.always()
        gate.open()
        let task = try await segmented.fixture.end(of: id, in: segmented.manager)
        // Both broke: that is a try. Nothing is mixed up, whatever was kept.
        #expect(task.state == .failed || task.state == .completed)
        _ = try? await segmented.manager.tasks.apply(.retry, to: [id], for: SegmentFixture.caller)
        try await segmented.completes(id)
        await segmented.end()
    }

    @Test func aRateLimitAppliesToAllConnectionsTogether() async throws {
        let segmented = try await SegmentFixture()
        let gate = Gate()
        segmented.served.always(.stall(at: 1000, until: gate))
        let id = try await segmented.add(.exactly(4), maxReceiveRate: 400_000)
        await gate.arrived(4)
        let start = Clocks.monotonic()
        gate.open()
        try await segmented.completes(id)
        #expect(start.duration(to: Clocks.monotonic()) > .milliseconds(700))
        await segmented.end()
    }
}
