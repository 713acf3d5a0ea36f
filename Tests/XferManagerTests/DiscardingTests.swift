import Testing
import XferFiles
import XferModel
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// Bytes that no task holds are deleted in the background, and keep no daemon from stopping.
struct DiscardingTests {
    @Test func aShutdownDoesNotWaitForDeletionsAndTheNextStartContinuesThem() async throws {
        let fixture = try await ManagerFixture()
        let count = 3000
        let first = try await fixture.open()
        let downloads = fixture.downloads
        let identity = try DirectoryHandle(ofService: downloads).identity
        let now = Clocks.wall()
        let names = try await first.store.write { tx in
            try (0..<count).map { _ in
                try tx.transfers.insert(partial: PartialLocation(directory: downloads, identity: identity), at: now)
                    .partialName
            }
        }
        for name in names { try FileTree.write("bytes", to: "\(downloads)/\(name)", mode: 0o600) }
        try await first.start()
        try await eventually("deleting has begun") { try fixture.files().count < count }
        await first.shutdown(.suspend)
        #expect(try !fixture.files().isEmpty, "the shutdown waited for all of them")

        let second = try await fixture.open()
        try await second.start()
        try await eventually("all are deleted") { try fixture.files().isEmpty }
        await second.shutdown(.suspend)
    }

    /// A run copies bytes for its task into a transfer that no task holds yet.
    @Test func aTransferThatThisDaemonHasMadeIsNoOrphanOfTheLastOne() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        await manager.background.discarder.ended()
        let downloads = fixture.downloads
        let identity = try DirectoryHandle(ofService: downloads).identity
        let made = try await manager.store.write { tx in
            try (0..<2).map { _ in
                try tx.transfers.insert(
                    partial: PartialLocation(directory: downloads, identity: identity), at: Clocks.wall())
            }
        }
        for transfer in made { try FileTree.write("bytes", to: "\(downloads)/\(transfer.partialName)", mode: 0o600) }
        manager.background.discarder.discardOrphans(upTo: made[0].id)
        await manager.background.discarder.ended()
        #expect(try fixture.files() == [made[1].partialName])
        #expect(try await manager.store.read { try $0.transfers.orphans(limit: 9) }.map(\.id) == [made[1].id])
        await manager.shutdown(.suspend)
    }

    @Test func deletionsOnADiskThatDidNotAnswerAreTriedAgain() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        await manager.background.discarder.ended()
        let downloads = fixture.downloads
        let identity = try DirectoryHandle(ofService: downloads).identity
        let transfer = try await manager.store.write { tx in
            try tx.transfers.insert(
                partial: PartialLocation(directory: downloads, identity: identity), at: Clocks.wall())
        }
        try FileTree.write("bytes", to: "\(downloads)/\(transfer.partialName)", mode: 0o600)
        let discarder = Self.discarder(of: manager, pause: .zero)
        discarder.discardLater([transfer.id: false])
        try await eventually("it is deleted") { try fixture.files().isEmpty }
        await discarder.shutdown()
        await manager.shutdown(.suspend)
    }

    @Test func theShutdownCancelsTheWaitForADiskThatDoesNotAnswer() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let discarder = manager.background.discarder
        discarder.discardLater([TransferID(7): false])
        let retry = try #require(discarder.retry)
        await manager.shutdown(.suspend)
        #expect(retry.isCancelled)
        discarder.discardLater([TransferID(7): false])
        #expect(discarder.retry == nil, "it waits again after the end")
    }

    @Test func theWaitForADiskThatDoesNotAnswerEndsWithItsOwner() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let retry = try #require(Self.retry(ofReleasedDiscarderOf: manager))
        #expect(retry.isCancelled)
        await manager.shutdown(.suspend)
    }

    private static func discarder(of manager: TransferManager, pause: Duration) -> TransferDiscarder {
        TransferDiscarder(
            context: manager.context, scheduler: manager.scheduler, remoteUploads: manager.background.remoteUploads,
            pause: pause)
    }

    /// The wait of a discarder that nothing refers to any more when this returns.
    private static func retry(ofReleasedDiscarderOf manager: TransferManager) -> Task<Void, Never>? {
        let discarder = discarder(of: manager, pause: .seconds(3600))
        discarder.discardLater([TransferID(7): false])
        return discarder.retry
    }

    /// A pass that began while the transfer was live may start a task on it after its last run has left.
    @Test func aTransferThatBecomesIdleDuringAPassIsNotDeletedYet() async throws {
        let stalled = try await CoalescingTests.Stalled()
        let id = try await stalled.add("a")
        try await stalled.halfWay([id])
        let scheduler = stalled.manager.scheduler
        let transfer = try #require(await scheduler.runs[id]?.transfer)
        // A pass of the scheduler's own would resume those that wait when it ends.
        try await eventually("no other pass runs") { await scheduler.beginPass() }
        async let deleted = scheduler.beginDeleting([transfer])
        try await eventually("it waits for the pass") { await scheduler.passes.waiters.count == 1 }
        await scheduler.stopAll()
        try await stalled.runsEnded(id)
        #expect(await scheduler.transfers[transfer] == nil)
        await scheduler.endPassOfTest()
        #expect(await deleted == [])
        await scheduler.endDeleting()
        stalled.gate.open()
        await scheduler.schedule()
        try await stalled.completed([id], names: ["a"])
        await stalled.manager.shutdown(.suspend)
    }

    /// 2 % of such runs left a task `running` without a run, before a start on a transfer that is being deleted was refused.
    @Test func tasksAddedAndCancelledOnOneURLAllEnd() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(7, length: 20_000)).always(.drop(after: 5_000))
        let manager = try await fixture.open()
        try await manager.start()
        let caller = ManagerFixture.caller
        let ids = try await withThrowingTaskGroup(of: [TaskID].self) { group in
            for client in 0..<8 {
                group.addTask {
                    var ids: [TaskID] = []
                    for round in 0..<12 {
                        let id = try await fixture.add("/a", as: "\(client)-\(round)", to: manager, retriesFailed: true)
                        {
                            $0.retry.maxRetries = 1
                        }
                        ids.append(id)
                        let verb = [TaskVerb.cancel, .pause, .remove, .resume][(client + round) % 4]
                        _ = try await manager.tasks.apply(verb, to: [ids[ids.count / 2]], for: caller)
                        _ = try await manager.tasks.apply(.resume, to: ids, for: caller)
                    }
                    return ids
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        try await eventually("all have ended", within: Patience.long) {
            _ = try await manager.tasks.apply(.resume, to: TaskQuery(states: [.paused, .waiting]), for: caller)
            let left = try await manager.queries.counts().filter { !$0.key.isTerminal && $0.value > 0 }
            return left.isEmpty
        }
        #expect(ids.count == 96)
        await manager.shutdown(.suspend)
    }
}

extension RunScheduler {
    /// As if a pass had begun and its starts were not launched yet; false while another one runs.
    fileprivate func beginPass() -> Bool {
        guard !passes.isRunning else { return false }
        passes.isRunning = true
        passes.count += 1
        return true
    }

    fileprivate func endPassOfTest() {
        for waiter in passes.waiters { waiter.continuation.resume() }
        passes.waiters = []
        passes.isRunning = false
    }
}
