import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// Several mirrors at the same time, each for parts of one file.
@Suite struct MirrorSegmentTests {
    private typealias Mirrors = MirrorFixture
    private static let right = MirrorFixture.version(tag: nil)

    private func complete(
        _ mirrors: MirrorFixture, demandsDigest: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TransferTask {
        let manager = try await mirrors.open { $0.smallestSegment = 16 << 10 }
        let id = try await mirrors.add(to: manager) {
            $0.segments = SegmentCount(4)
            if demandsDigest { $0.checksum = MirrorFixture.checksum }
        }
        let task = try await mirrors.end(of: id, in: manager)
        #expect(
            task.state == .completed, "\(String(describing: task.error))", sourceLocation: sourceLocation)
        #expect(try mirrors.holds(Self.right), sourceLocation: sourceLocation)
        await manager.shutdown(.suspend)
        return task
    }

    /// The first mirror stalls half way until the others have been asked, so that timing does not matter.
    @Test func underADigestAllMirrorsAreAskedAtOnce() async throws {
        let mirrors = try await Mirrors(3)
        let gate = Gate()
        mirrors.serve(0, faults: [[.stall(at: 40_000, until: gate)]])
        mirrors.serve(1)
        mirrors.serve(2)
        async let task = complete(mirrors)
        await gate.arrived()
        try await eventually("the others are asked") {
            mirrors.servers[1].requests.count > 0 && mirrors.servers[2].requests.count > 0
        }
        gate.open()
        #expect(try await task.received == Mirrors.length)
        #expect(mirrors.servers[1].requests.allSatisfy { $0.header("If-Range") == nil && $0.status == 206 })
    }

    /// The second mirror's part is smaller than what would be divided.
    @Test func aTricklingMirrorGivesItsPartBackToAFastOne() async throws {
        let mirrors = try await Mirrors(2)
        mirrors.serve(1).always(.drip(20, every: .seconds(1)))
        let gate = Gate()
        mirrors.serve(0, faults: [[.stall(at: 40_000, until: gate)]])
        async let task = complete(mirrors)
        await gate.arrived()
        try await eventually("the other one is asked") { mirrors.servers[1].requests.count > 0 }
        gate.open()
        #expect(try await task.state == .completed)
    }

    /// Without a digest only those take part that show the same tag.
    @Test func underATagOnlyMirrorsWithTheSameTagSendSegments() async throws {
        let mirrors = try await Mirrors(3)
        let version = Mirrors.version(tag: "\"same\"")
        let gate = Gate()
        mirrors.serve(0, version, faults: [[.stall(at: 40_000, until: gate)]])
        mirrors.serve(1, Mirrors.version(tag: "\"m1\"", seed: 2))
        mirrors.serve(2, version)
        async let task = complete(mirrors, demandsDigest: false)
        await gate.arrived()
        try await eventually("the others are asked") {
            mirrors.servers[1].requests.count > 0 && mirrors.servers[2].requests.count > 0
        }
        gate.open()
        #expect(try await task.state == .completed)
        #expect(mirrors.servers[1].requests.count == 1)
        #expect(mirrors.servers[2].requests.contains { $0.status == 206 })
    }

    /// Another length, no ranges, 404, a broken connection: each costs that mirror, not the task.
    @Test func unusableMirrorsDoNotFailTheDownload() async throws {
        let mirrors = try await Mirrors(5)
        let gate = Gate()
        mirrors.serve(0, faults: [[.stall(at: 40_000, until: gate)]])
        mirrors.serve(1, Mirrors.version(tag: "\"m1\"", length: Mirrors.length + 1))
        mirrors.serve(2).always(.ignoreRange)
        mirrors.serve(3).always(.status(404))
        mirrors.serve(4).always(.noAnswer())
        async let task = complete(mirrors)
        await gate.arrived()
        try await eventually("the others are asked") {
            mirrors.servers.dropFirst().allSatisfy { $0.requests.count > 0 }
        }
        gate.open()
        #expect(try await task.state == .completed)
        #expect(mirrors.servers.dropFirst().allSatisfy { $0.requests.count == 1 })
    }

    /// The digest does not say which mirror was wrong: each is asked for the whole, until one is right.
    @Test func wrongSegmentsOfAMirrorAreDetected() async throws {
        let mirrors = try await Mirrors(3)
        let gate = Gate()
        mirrors.serve(0, faults: [[.stall(at: 40_000, until: gate)]])
        mirrors.serve(1, Mirrors.version(tag: "\"m1\"", seed: 2))
        mirrors.serve(2)
        async let task = complete(mirrors)
        await gate.arrived()
        try await eventually("the wrong one is asked") { mirrors.servers[1].requests.count > 0 }
        gate.open()
        #expect(try await task.state == .completed)
    }
}
