import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// However often a download is continued, its bytes stay; and bytes are never discarded without an event.
@Suite struct ManyContinuationsTests {
    private static let piece: Int64 = 20_000

    private func open(_ fixture: ManagerFixture) async throws -> TransferManager {
        let manager = try await fixture.open(change: {
            $0.retry = RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1))
        })
        try await manager.start()
        return manager
    }

    private func payloads(of id: TaskID, in manager: TransferManager) async throws -> [EventPayload] {
        try await manager.store.read { try $0.events.list(since: 0, taskIDs: [id], limit: 1000) }.map(\.payload)
    }

    /// 17 continuations of the same server were too many once.
    @Test func aDownloadThatBreaksFortyTimesFetchesNoByteTwice() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(30, length: 40 * Self.piece)
        fixture.server.serve("/f", version).always(.drop(after: Self.piece))
        let manager = try await open(fixture)
        let id = try await fixture.add("/f", as: "f", to: manager)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try version.equals(file: "\(fixture.downloads)/f"))
        let offsets = (1..<40).map { Int64($0) * Self.piece }
        #expect(fixture.server.requests.map { $0.header("Range") } == [nil] + offsets.map { "bytes=\($0)-" })
        #expect(try await manager.queries.discards(of: [manager.queries.task(id, for: ManagerFixture.caller)]).isEmpty)
        await manager.shutdown(.suspend)
    }

    /// A redirector to more hosts than are listed: their bytes are trusted while the policies stay as they are.
    @Test func bytesOfMoreServersThanAreListedAreKeptUntilThePoliciesChange() async throws {
        let fixture = try await ManagerFixture()
        let count = Int64(SourceLedger.maxCount + 6)
        let version = SourceVersion.tagged(31, length: count * 1000)
        // Under all addresses of this machine.
        let (server, gate) = (try await FaultServer(address: "0.0.0.0"), Gate())
        let asked = NIOLockedValueBox(0)
        server.serve("/f", version).always(.drop(after: 1000))
        server.on("/go") { _ in
            let number = asked.withLockedValue { asked in
                asked += 1
                return asked
            }
            if number == count - 1 { await gate.wait() }
            return Reply(
                302,
                headers: [HeaderField(name: "Location", value: "http://127.0.0.\(number % 250 + 1):\(server.port)/f")],
                text: "")
        }
        let manager = try await open(fixture)
        let id = try await fixture.add(url: "http://127.0.0.1:\(server.port)/go", as: "f", to: manager)
        await gate.arrived()
        let kept = try await manager.queries.task(id, for: ManagerFixture.caller).received
        #expect(kept == (count - 2) * 1000)
        #expect(try await payloads(of: id, in: manager).allSatisfy { $0.type != .taskBytesDiscarded })
        // A policy of another host: the servers that are not listed can no longer be judged.
        _ = try await manager.policies.set(
            TrustPolicy(name: "other", hosts: [try HostPattern("other.example")], minimumTLS: .tls13))
        gate.open()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try version.equals(file: "\(fixture.downloads)/f"))
        let discards = try await payloads(of: id, in: manager).filter { $0.type == .taskBytesDiscarded }
        guard discards.count == 1, case .taskBytesDiscarded(let reason, let dropped) = discards[0] else {
            Issue.record("\(discards)")
            return
        }
        #expect(reason.contains("the trust policies have changed since") && dropped == (count - 1) * 1000)
        await manager.shutdown(.suspend)
    }

    @Test func aLostPartialFileIsAnEventWithItsReason() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(32, length: 100_000)
        let gate = Gate()
        fixture.server.serve("/f", version, faults: [[.drop(after: 50_000)], [.stallHead(until: gate)]])
        let manager = try await open(fixture)
        let id = try await fixture.add("/f", as: "f", to: manager)
        await gate.arrived()
        let caller = ManagerFixture.caller
        #expect(try await manager.tasks.apply(.pause, to: [id], for: caller).changed == [id])
        try await eventually("it has stopped") { await manager.scheduler.runs[id] == nil }
        for name in try fixture.files() { FileTree.remove("\(fixture.downloads)/\(name)") }
        gate.open()
        #expect(try await manager.tasks.apply(.resume, to: [id], for: caller).changed == [id])
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed)
        #expect(try version.equals(file: "\(fixture.downloads)/f"))
        let discard = try #require(try await manager.queries.discards(of: [task])[id])
        guard case .taskBytesDiscarded(let reason, 50_000) = discard.payload else {
            Issue.record("\(discard)")
            return
        }
        #expect(reason.hasPrefix("the partial file has changed since it was closed"))
        await manager.shutdown(.suspend)
    }
}
