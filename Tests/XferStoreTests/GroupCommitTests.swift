import Dispatch
import GRDB
import GRDBSQLite
import Glibc
import Testing
import XferModel
import XferSystem
import XferTestSupport

@testable import XferStore

/// What callers of `write` may rely on.
struct GroupCommitTests {
    struct Refused: Error {}

    @Test func severalWritesAreDoneTogetherAndFailAlone() async throws {
        struct Refusal: Error {}
        try await withStore { store in
            let results: [Result<Int, any Error>] = await store.write(
                each: (0..<5).map { number in
                    { tx in
                        try tx.settings.set("key \(number)", "value")
                        if number == 2 { throw Refusal() }
                        return number
                    }
                })
            #expect(results.map { try? $0.get() } == [0, 1, nil, 3, 4])
            #expect(throws: Refusal.self) { try results[2].get() }
            let written = try await store.read { reader in try (0..<5).map { try reader.settings.find("key \($0)") } }
            #expect(written == ["value", "value", nil, "value", "value"])
            #expect(await store.write(each: [@Sendable (StoreTransaction) throws -> Int]()).isEmpty)
        }
    }

    @Test func severalWritesToAClosedStoreAreAllRefused() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try store.close()
        let results: [Result<Void, any Error>] = await store.write(each: [{ _ in }, { _ in }])
        #expect(results.count == 2)
        for result in results { #expect(throws: StoreError.closed) { try result.get() } }
    }

    @Test func aWriteReturnsItsResultAndSurvivesAReopening() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let id = try await store.write { try $0.tasks.insert(specification(), state: .queued, at: noon).id }
        try store.close()
        let again = try directory.open()
        #expect(try await again.read { try $0.tasks.find(id) }?.specification == specification())
        #expect(again.storeID == store.storeID)
        try again.close()
    }

    @Test func concurrentAddsGetDistinctIDs() async throws {
        try await withStore { store in
            let ids = try await withThrowingTaskGroup(of: [TaskID].self) { group in
                for writer in 0..<64 {
                    group.addTask {
                        var ids: [TaskID] = []
                        for number in 0..<100 {
                            let spec = specification("host\(writer % 7)", path: "/\(number)")
                            ids.append(try await store.write { try $0.tasks.insert(spec, state: .queued, at: noon).id })
                        }
                        return ids
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(ids).count == 6400)
            #expect(try await store.read { try $0.counts.byState() } == [.queued: 6400])
        }
    }

    @Test func eventsArePublishedInOrderWithoutGapsAfterTheyAreDurable() async throws {
        let directory = try StoreDirectory()
        let told = Collected<Event>()
        let early = Collected<Int64>()
        let path = directory.database
        let store = try directory.open { events in
            told.append(contentsOf: events)
            // Another connection sees only what is committed.
            guard let last = events.last?.seq,
                let seen = try? DatabaseQueue(path: path).read({
                    try Int64.fetchOne($0, sql: "SELECT max(seq) FROM event")
                })
            else { return early.append(-1) }
            if seen < last { early.append(last) }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try? await store.write { transaction throws in
                        try transaction.events.append(.taskResumed, taskID: TaskID(Int64(number)), at: noon)
                        try transaction.events.append(.taskCancelled, taskID: TaskID(Int64(number)), at: noon)
                        if number.isMultiple(of: 3) { throw Refused() }
                    }
                }
            }
        }
        #expect(told.all.map(\.seq) == Array(1...Int64(told.all.count)))
        #expect(told.all.count == 2 * (0..<200).count { !$0.isMultiple(of: 3) })
        #expect(early.all.isEmpty)
        #expect(try await store.read { try $0.events.list(since: 0, limit: 1000) } == told.all)
        try store.close()
    }

    @Test func aBadChangeSetFailsAlone() async throws {
        try await withStore { store in
            let good = Collected<TaskID>()
            let bad = Collected<String>()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        do {
                            good.append(
                                try await store.write { transaction throws in
                                    let task = try transaction.tasks.insert(specification(), state: .queued, at: noon)
                                    if number.isMultiple(of: 3) { throw Refused() }
                                    return task.id
                                })
                        } catch {
                            bad.append("\(error)")
                        }
                    }
                }
            }
            #expect(good.all.count == 200)
            #expect(Set(bad.all) == ["Refused()"])
            #expect(try await store.read { try $0.counts.byState() } == [.queued: 200])
            let page = try await store.read { try $0.tasks.list(TaskQuery(), ascending: true, limit: 1000) }
            #expect(page.tasks.map(\.id) == good.all.sorted())
        }
    }

    @Test func countsOfAFailedBodyAreUndone() async throws {
        try await withStore { store in
            try await store.write { try $0.add(2) }
            await #expect(throws: Refused.self) {
                try await store.write { transaction throws in
                    try transaction.add(5, to: "other.example")
                    // Reading writes the differences out within the savepoint.
                    #expect(try transaction.counts.byState() == [.queued: 7])
                    throw Refused()
                }
            }
            try await store.write { try $0.add(1) }
            #expect(try await store.read { try $0.counts.byState() } == [.queued: 3])
            #expect(try await store.read { try $0.nextHosts(priority: .normal, limit: 9) } == ["example.com"])
        }
    }

    @Test func countsOfTheGroupSurviveALaterBodyThatFailed() async throws {
        let directory = try StoreDirectory()
        let group = try HeldGroup(directory)
        group.submit { try $0.add(3) }
        group.submit { transaction throws in
            _ = try transaction.counts.byState()
            throw Refused()
        }
        group.submit { try $0.add(1) }
        group.release()
        #expect(group.outcomes == [nil, "Refused()", nil])
        group.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func theLogIsSyncedBeforeTheAnswer() async throws {
        let directory = try StoreDirectory()
        DiskFaults.watch(directory.database)
        let store = try directory.open()
        for number in 0..<5 {
            let before = DiskFaults.plan(directory.database).syncs
            try await store.write { try $0.settings.set("limit", "\(number)") }
            #expect(DiskFaults.plan(directory.database).syncs == before + 1)
        }
        try store.close()
    }

    @Test func aCommitIsWrittenToTheLogInOnePiece() async throws {
        let directory = try StoreDirectory()
        DiskFaults.watch(directory.database)
        let store = try directory.open()
        try await store.write { try $0.add(1) }
        let before = DiskFaults.plan(directory.database).logWrites
        let ids = try await store.write { try $0.add(1) }
        #expect(DiskFaults.plan(directory.database).logWrites == before + 1)
        // Another connection finds it there.
        #expect(try await store.read { try $0.tasks.find(ids[0]) } != nil)
        try store.close()
    }

    @Test func aTransactionLargerThanTheGatheredLogIsKept() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        // Five times the writer's cache, so that much of it is read back from the log before it is committed.
        let text = String(repeating: "x", count: 20_000)
        try await store.write { transaction in
            for number in 0..<1000 { try transaction.settings.set("setting \(number)", text) }
            for number in 0..<1000 { try transaction.settings.set("setting \(number)", "\(number)" + text) }
        }
        try await store.read { reader in
            for number in 0..<1000 {
                let kept = try reader.settings.find("setting \(number)")
                #expect(kept == "\(number)" + text)
            }
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func changeSetsAreTriedSinglyIfTheCommitOfTheirGroupFails() async throws {
        let directory = try StoreDirectory()
        DiskFaults.watch(directory.database)
        let told = Collected<Event>()
        let degradations = Collected<String?>()
        let group = try HeldGroup(directory, onCommit: { told.append(contentsOf: $0) }) { degradations.append($0) }
        for number in 1...10 {
            group.submit { transaction throws in
                try transaction.add(1)
                try transaction.events.append(.taskResumed, taskID: TaskID(Int64(number)), at: noon)
                if number == 4 { throw Refused() }
            }
        }
        DiskFaults.change(directory.database) { $0.syncFailures = [SQLITE_OK, SQLITE_IOERR | 4 << 8] }
        group.release()
        #expect(group.outcomes == (1...10).map { $0 == 4 ? "Refused()" : nil })
        #expect(told.all.map(\.seq) == Array(1...9))
        #expect(told.all.map(\.taskID?.rawValue) == [1, 2, 3, 5, 6, 7, 8, 9, 10])
        #expect(degradations.all.isEmpty)
        group.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aChangeSetTooLargeForTheDiskFailsAndTheOthersPass() async throws {
        let directory = try StoreDirectory()
        let group = try HeldGroup(directory)
        group.submit { transaction throws in
            let pages = try Int.fetchOne(transaction.connection.database, sql: "PRAGMA page_count") ?? 0
            _ = try Int.fetchOne(transaction.connection.database, sql: "PRAGMA max_page_count = \(pages + 20)")
        }
        group.submit { try $0.add(1) }
        group.submit { try $0.add(5000) }
        group.submit { try $0.add(1) }
        group.release()
        let outcomes = group.outcomes
        try #require(outcomes.map { $0 == nil } == [true, true, false, true])
        #expect(outcomes[2]?.contains("full") == true)
        group.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
        let store = try directory.open()
        #expect(try await store.read { try $0.counts.byState() } == [.queued: 2])
        try store.close()
    }

    @Test func aBodyThatIgnoredAFullDiskCommitsNothing() async throws {
        let directory = try StoreDirectory()
        DiskFaults.watch(directory.database)
        let store = try directory.open()
        try await store.write { try $0.settings.set("a", "1") }
        await #expect(throws: StoreError.self) {
            try await store.write { transaction throws in
                try transaction.settings.set("a", "2")
                DiskFaults.change(directory.database) { $0.writeFailure = SQLITE_FULL }
                // More than the page cache holds, so that pages are written before the commit.
                _ = try? transaction.add(20_000)
                DiskFaults.change(directory.database) { $0.writeFailure = nil }
                try transaction.settings.set("a", "3")
            }
        }
        #expect(try await store.read { try $0.settings.find("a") } == "1")
        #expect(try await store.read { try $0.counts.byState() } == [:])
        try store.close()
    }

    @Test(arguments: [SQLITE_FULL, SQLITE_IOERR | 3 << 8])
    func aFullDiskDegradesTheStoreUntilItRecoversByItself(failure: Int32) async throws {
        let directory = try StoreDirectory()
        DiskFaults.watch(directory.database)
        let (changes, continuation) = AsyncStream.makeStream(of: Bool.self)
        let store = try directory.open(onDegradedChange: { continuation.yield($0 != nil) })
        var iterator = changes.makeAsyncIterator()
        let id = try await store.write { try $0.add(1)[0] }

        DiskFaults.change(directory.database) { $0.writeFailure = failure }
        await #expect(throws: StoreError.self) { try await store.write { try $0.add(1) } }
        #expect(await iterator.next() == true)
        #expect(store.isDegraded)
        do {
            try await store.write { try $0.add(1) }
            Issue.record("a write went through on a disk that refuses")
        } catch StoreError.degraded {
        }
        #expect(try await store.read { try $0.tasks.find(id) } != nil)

        DiskFaults.change(directory.database) { $0.writeFailure = nil }
        #expect(await iterator.next() == false)
        #expect(!store.isDegraded)
        try await store.write { try $0.add(1) }
        #expect(try await store.read { try $0.counts.byState() } == [.queued: 2])
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aStoreWhoseFileIsMovedAwayIsDegradedWithoutAWriteAndRecoversWithTheFile() async throws {
        let directory = try StoreDirectory()
        let (changes, continuation) = AsyncStream.makeStream(of: Bool.self)
        let store = try directory.open(onDegradedChange: { continuation.yield($0 != nil) })
        var iterator = changes.makeAsyncIterator()
        try #require(rename(directory.database, directory.database + ".away") == 0)
        #expect(store.isDegraded && store.isDegraded)
        #expect(await iterator.next() == true)
        try #require(rename(directory.database + ".away", directory.database) == 0)
        #expect(await iterator.next() == false)
        #expect(!store.isDegraded)
        try store.close()
    }

    /// AFURLSessionManager's attemptsToRecreateUploadTasks: what cannot be made at once is tried again, within limits.
    @Test func aWriteIsRetriedWhileAnotherConnectionWrites() async throws {
        let directory = try StoreDirectory()
        DiskFaults.watch(directory.database)
        let store = try directory.open()
        DiskFaults.change(directory.database) { $0.busyLocks = 2 }
        #expect(try await store.write { try $0.add(1) } == [TaskID(1)])
        #expect(DiskFaults.plan(directory.database).busyLocks == 0)
        #expect(!store.isDegraded)

        DiskFaults.change(directory.database) { $0.busyLocks = .max }
        await #expect(throws: StoreError.self) { try await store.write { try $0.add(1) } }
        #expect(DiskFaults.plan(directory.database).busyLocks < .max)
        DiskFaults.change(directory.database) { $0.busyLocks = 0 }
        try await eventually("it recovers") { !store.isDegraded }
        #expect(try await store.write { try $0.add(1) } == [TaskID(2)])
        try store.close()
    }

    @Test func gatheredChangesCommitWithoutOtherChanges() async throws {
        try await withStore { store in
            try await store.write(.gathered) { try $0.settings.set("a", "1") }
            #expect(try await store.read { try $0.settings.find("a") } == "1")
        }
    }

    @Test func aGatheredChangeThatMetABulkyOneIsCommittedAfterIt() async throws {
        try await withStore { store in
            let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let bulky: Void = store.write(.bulky) {
                begun.signal()
                mayEnd.wait()
                try $0.settings.set("a", "1")
            }
            // Before the task above is waited for, whatever fails.
            defer { mayEnd.signal() }
            try await offThread { begun.wait() }
            let isCommitted = Locked(false)
            Task {
                try await store.write(.gathered) { try $0.settings.set("b", "2") }
                isCommitted.withLock { $0 = true }
            }
            try await eventually("it waits") { store.waitingWrites == 1 }
            mayEnd.signal()
            try await bulky
            try await eventually("it is committed") { isCommitted.withLock(\.self) }
        }
    }

    @Test func closingCommitsWaitingChangesAndRefusesLaterOnes() async throws {
        let directory = try StoreDirectory()
        var configuration = StoreConfiguration(path: directory.database)
        configuration.gatheringTime = .seconds(3600)
        let store = try TaskStore.open(configuration)
        async let gathered: Void = store.write(.gathered) { try $0.settings.set("a", "1") }
        while store.waitingWrites == 0 { await Task.yield() }
        try store.close()
        try await gathered
        await #expect(throws: StoreError.closed) { try await store.write { try $0.settings.set("a", "2") } }
        await #expect(throws: StoreError.closed) { try await store.read { try $0.settings.find("a") } }
        try store.close()
        #expect(directory.bytes("-wal")?.isEmpty ?? true)
        let again = try directory.open()
        #expect(!again.wasStoppedUncleanly)
        #expect(try await again.read { try $0.settings.find("a") } == "1")
        try again.close()
    }
}

/// A `GroupCommit` whose writer is held up until `release`, so that what is submitted meanwhile forms one group.
final class HeldGroup {
    private let commits: GroupCommit
    private let pool: DatabasePool
    private let gate = DispatchSemaphore(value: 0)
    private let done = DispatchGroup()
    private let results = Locked<[Int: String]>([:])
    private var count = 0

    private final class Change: ChangeSet {
        let urgency = Urgency.immediate
        let body: @Sendable (StoreTransaction) throws -> Void
        let onEnd: @Sendable ((any Error)?) -> Void

        init(
            _ body: @escaping @Sendable (StoreTransaction) throws -> Void,
            _ onEnd: @escaping @Sendable ((any Error)?) -> Void
        ) {
            self.body = body
            self.onEnd = onEnd
        }

        func execute(in transaction: StoreTransaction) throws { try body(transaction) }
        func succeed() { onEnd(nil) }
        func fail(_ error: any Error) { onEnd(error) }
    }

    init(
        _ directory: StoreDirectory, onCommit: @escaping @Sendable ([Event]) -> Void = { _ in },
        onDegradedChange: @escaping @Sendable (String?) -> Void = { _ in }
    ) throws {
        pool = try DatabaseOpener.open(directory.database).pool
        var configuration = StoreConfiguration(
            path: directory.database, onCommit: onCommit, onDegradedChange: onDegradedChange)
        configuration.probeInterval = .seconds(3600)
        commits = try GroupCommit(pool: pool, configuration: configuration)
        let started = DispatchSemaphore(value: 0)
        done.enter()
        // Writes something, so that the first sync is its own and the second one the group's.
        commits.submit([
            Change { [gate] transaction in
                try transaction.settings.set("held", "yes")
                started.signal()
                gate.wait()
            } _: { [done] _ in
                done.leave()
            }
        ])
        started.wait()
    }

    func submit<T>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) {
        let index = count
        count += 1
        done.enter()
        commits.submit([
            Change {
                _ = try body($0)
            } _: { [done, results] error in
                if let error { results.withLock { $0[index] = "\(error)" } }
                done.leave()
            }
        ])
    }

    func release() {
        gate.signal()
        done.wait()
    }

    /// The errors in the order of submission, nil for success.
    var outcomes: [String?] { results.withLock { results in (0..<count).map { results[$0] } } }

    func close() {
        _ = commits.close()
        try? pool.close()
    }
}
