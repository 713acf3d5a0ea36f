import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// A source without any validator, and a task that demands a digest.
///
/// The run continues the kept bytes, and trusts none of them before the digest matches.
@Suite struct UnprovenResumeTests {
    private static let cut: Int64 = 100_000
    private static let old = SourceVersion(seed: 150, length: 300_000, etag: nil)
    private static let new = SourceVersion(seed: 151, length: 300_000, etag: nil)

    /// A manager, and a task that was paused when it had the first 100,000 bytes of the old version.
    private struct Paused {
        let fixture: ManagerFixture
        let manager: TransferManager
        let ids: [TaskID]

        init(_ names: [String: Checksum?]) async throws {
            fixture = try await ManagerFixture()
            let gate = Gate()
            fixture.server.serve("/f", UnprovenResumeTests.old).always(
                .stall(at: UnprovenResumeTests.cut, until: gate))
            manager = try await fixture.open(change: { $0.checkpointInterval = .milliseconds(40) })
            try await manager.start()
            var ids: [TaskID] = []
            for (name, checksum) in names.sorted(by: { $0.key < $1.key }) {
                ids.append(try await fixture.add("/f", as: name, to: manager) { $0.checksum = checksum })
            }
            self.ids = ids
            let (manager, all) = (manager, ids)
            try await eventually("the first bytes came") {
                let progress = await manager.queries.progress(of: all)
                return progress.count == all.count
                    && progress.values.allSatisfy { $0.received == UnprovenResumeTests.cut }
            }
            try await apply(.pause)
            for id in ids { try await eventually("it has stopped") { await manager.scheduler.runs[id] == nil } }
            gate.open()
        }

        func apply(_ verb: TaskVerb) async throws {
            #expect(try await manager.tasks.apply(verb, to: ids, for: ManagerFixture.caller).changed == ids)
        }

        /// The requested ranges in order; nil is the whole.
        var ranges: [String?] { fixture.server.requests(to: "/f").map { $0.header("Range") } }

        func expectCompleted(_ names: String..., as version: SourceVersion) async throws {
            for (id, name) in zip(ids, names) {
                let task = try await fixture.end(of: id, in: manager)
                #expect(task.state == .completed, "\(String(describing: task.error))")
                #expect(try version.equals(file: "\(fixture.downloads)/\(name)"))
            }
            await manager.shutdown(.suspend)
        }
    }

    @Test func aResumeWithoutAValidatorContinuesUnderAStrongDigest() async throws {
        let paused = try await Paused(["f": Self.old.checksum()])
        #expect(
            try await paused.manager.queries.resumability(of: [
                paused.manager.queries.task(paused.ids[0], for: ManagerFixture.caller)
            ])
                == [paused.ids[0]: true])
        paused.fixture.server.serve("/f", Self.old)
        try await paused.apply(.resume)
        try await paused.expectCompleted("f", as: Self.old)
        #expect(paused.ranges == [nil, "bytes=100000-"])
        #expect(paused.fixture.server.requests(to: "/f").allSatisfy { $0.header("If-Range") == nil })
    }

    @Test(arguments: [nil, old.checksum(.md5)])
    func aResumeWithoutAValidatorOrStrongDigestStartsOver(checksum: Checksum?) async throws {
        let paused = try await Paused(["f": checksum])
        paused.fixture.server.serve("/f", Self.old)
        try await paused.apply(.resume)
        try await paused.expectCompleted("f", as: Self.old)
        #expect(paused.ranges == [nil, nil])
    }

    @Test func bytesBehindAnUnprovenJoinAreReadableOnlyOnceVerified() async throws {
        let paused = try await Paused(["f": Self.old.checksum()])
        let (manager, id, gate) = (paused.manager, paused.ids[0], Gate())
        func readable() async throws -> Int64 {
            try await manager.bytes.read(id, offset: 0, length: 1, for: ManagerFixture.caller).length
        }
        #expect(try await readable() == Self.cut)
        paused.fixture.server.serve("/f", Self.old).always(.stall(at: 100_000, until: gate))
        try await paused.apply(.resume)
        try await eventually("more is durable") {
            try await manager.queries.task(id, for: ManagerFixture.caller).received == 200_000
        }
        #expect(try await readable() == Self.cut)
        // The same holds after a break, whatever follows.
        try await paused.apply(.pause)
        try await eventually("it has stopped") { await manager.scheduler.runs[id] == nil }
        #expect(try await readable() == Self.cut)
        gate.open()
        paused.fixture.server.serve("/f", Self.old)
        try await paused.apply(.resume)
        #expect(try await paused.fixture.end(of: id, in: manager).state == .completed)
        #expect(try await readable() == Self.old.length)
        #expect(paused.ranges == [nil, "bytes=100000-", "bytes=200000-"])
        try await paused.expectCompleted("f", as: Self.old)
    }

    @Test func aMixtureIsFetchedAgainAsAWhole() async throws {
        let paused = try await Paused(["f": Self.new.checksum()])
        paused.fixture.server.serve("/f", Self.new)
        try await paused.apply(.resume)
        try await paused.expectCompleted("f", as: Self.new)
        #expect(paused.ranges == [nil, "bytes=100000-", nil])
    }

    @Test func aSecondWrongDigestIsTheEnd() async throws {
        let paused = try await Paused(["f": SourceVersion(seed: 152, length: 300_000, etag: nil).checksum()])
        paused.fixture.server.serve("/f", Self.new)
        try await paused.apply(.resume)
        let task = try await paused.fixture.end(of: paused.ids[0], in: paused.manager)
        #expect(task.state == .failed && task.error?.reason == .checksumMismatch)
        #expect(paused.ranges == [nil, "bytes=100000-", nil])
        #expect(try paused.fixture.files().allSatisfy { $0.hasSuffix(".part") })
        await paused.manager.shutdown(.suspend)
    }

    @Test func aBreakAfterAWrongDigestIsNoFurtherJoin() async throws {
        let paused = try await Paused(["f": Self.new.checksum()])
        let gate = Gate()
        paused.fixture.server.on("/f") { request in
            var reply = Self.new.honestReply(to: request)
            if request.header("Range") == nil, !gate.isOpen {
                Fault.stall(at: 50_000, until: gate).apply(to: &reply, request, Self.new)
            }
            return reply
        }
        try await paused.apply(.resume)
        await gate.arrived()
        let id = paused.ids[0]
        try await eventually("bytes of the whole came") {
            try await paused.manager.queries.task(id, for: ManagerFixture.caller).received == 50_000
        }
        try await paused.apply(.pause)
        try await eventually("it has stopped") { await paused.manager.scheduler.runs[id] == nil }
        gate.open()
        try await paused.apply(.resume)
        try await paused.expectCompleted("f", as: Self.new)
        #expect(paused.ranges == [nil, "bytes=100000-", nil, nil])
    }

    /// A join under a digest keeps it when the task that demanded it has left before the response's head came.
    @Test func aJoinIsVerifiedAlsoIfTheTaskThatDemandedTheDigestHasLeft() async throws {
        let paused = try await Paused(["a": nil])
        let (manager, id, gate) = (paused.manager, paused.ids[0], Gate())
        paused.fixture.server.serve("/f", Self.new, faults: [[.stall(at: Self.cut, until: gate)]])
        try await paused.apply(.resume)
        await gate.arrived()
        let transfer = try #require(await manager.scheduler.runs[id]?.transfer)
        let shared = try #require(await manager.scheduler.transfers[transfer]?.shared)
        try await eventually("its response is accepted") { await shared.hasHead }
        let digest = Self.old.checksum()
        await shared.joinUnproven(under: digest, at: Self.cut)
        #expect(await shared.bindingDigest == digest)
        gate.open()
        try await paused.expectCompleted("a", as: Self.new)
        // The bytes have not the digest, so they are fetched once more.
        #expect(paused.ranges == [nil, nil, nil])
    }

    /// A task that shares the bytes and demands no digest does not get a mixture either.
    @Test func tasksThatShareATransferAreHeldToTheSameDigest() async throws {
        let paused = try await Paused(["a": Self.new.checksum(), "b": nil])
        #expect(paused.ranges.count == 1, "they share")
        paused.fixture.server.serve("/f", Self.new)
        try await paused.apply(.resume)
        try await paused.expectCompleted("a", "b", as: Self.new)
    }
}
