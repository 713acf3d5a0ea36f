import Dispatch
import Foundation
import GRDBSQLite
import Testing
import XferModel
import XferSystem
import XferTestSupport

@testable import XferStore

/// The log stays short, and below its bound no commit waits for that.
struct WALCheckpointerTests {
    private static let limits = WALCheckpointPlan.Limits(start: 64, rest: 8, bound: 512)

    private func open(_ directory: StoreDirectory, _ limits: WALCheckpointPlan.Limits = limits) throws -> TaskStore {
        DiskFaults.watch(directory.database)
        var configuration = StoreConfiguration(path: directory.database)
        configuration.logLimits = limits
        return try TaskStore.open(configuration)
    }

    /// A frame of the log is a page and 24 bytes (https://sqlite.org/fileformat2.html#the_write_ahead_log).
    private func pagesOfLog(_ directory: StoreDirectory) -> Int { (directory.bytes("-wal")?.count ?? 0) / (4096 + 24) }

    @Test func commitsContinueWhileTheLogIsMoved() async throws {
        let directory = try StoreDirectory()
        // No bound: commits would wait there for what waits here for them.
        let store = try open(directory, WALCheckpointPlan.Limits(start: 64, rest: 8, bound: .max))
        let isMoving = Locked(false)
        let goOn = DispatchSemaphore(value: 0)
        defer { goOn.signal() }
        DiskFaults.change(directory.database) {
            $0.beforeDatabaseSync = {
                isMoving.withLock { $0 = true }
                goOn.wait()
            }
        }
        while !isMoving.withLock(\.self) { try await store.write { try $0.add(1) } }
        // It is being moved and stays so.
        let count = try await store.read { try $0.counts.byState()[.queued] ?? 0 }
        for _ in 0..<10 { try await store.write { try $0.add(1) } }
        #expect(try await store.read { try $0.counts.byState() } == [.queued: count + 10])
        DiskFaults.change(directory.database) { $0.beforeDatabaseSync = nil }
        goOn.signal()
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseLeftInTheMiddleOfACheckpointIsWhole() async throws {
        let directory = try StoreDirectory()
        let left = try StoreDirectory()
        let store = try open(directory)
        let isCopied = Locked(false)
        DiskFaults.change(directory.database) {
            // The checkpoint has written pages into the database and has not synced them yet.
            $0.beforeDatabaseSync = { [database = directory.database, copy = left.database] in
                guard
                    isCopied.withLock({ isCopied in
                        defer { isCopied = true }; return !isCopied
                    })
                else { return }
                for suffix in ["-wal", ""] {
                    try? FileManager.default.copyItem(atPath: database + suffix, toPath: copy + suffix)
                }
            }
        }
        var count: Int64 = 0
        while !isCopied.withLock(\.self) {
            try await store.write { try $0.add(1) }
            count += 1
        }
        try store.close()
        let again = try left.open()
        #expect(again.wasStoppedUncleanly)
        let kept = try await again.read { try $0.counts.byState()[.queued] ?? 0 }
        #expect(kept > 0 && kept <= count)
        try again.close()
        try TaskStore.check(at: left.database, thoroughly: true)
    }

    @Test func theLogRestartsWhileWritersContinue() async throws {
        let directory = try StoreDirectory()
        let store = try open(directory)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<300 { try await store.write { try $0.add(1) } }
                }
            }
            try await group.waitForAll()
        }
        // 1,200 tasks change several thousand pages; one commit more than the bound may be there.
        #expect(pagesOfLog(directory) < 512 + 128)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func commitsWaitForSlowDisksBeforeTheLogIsTooLong() async throws {
        let directory = try StoreDirectory()
        let store = try open(directory)
        let database = directory.database
        DiskFaults.change(database) {
            // Sleeps: as long as it takes for the log to reach its bound, and a file's growth is no event.
            $0.beforeDatabaseSync = {
                var status = stat()
                while stat(database + "-wal", &status) == 0, status.st_size < 512 * (4096 + 24) { usleep(100) }
            }
        }
        for _ in 0..<600 { try await store.write { try $0.add(5) } }
        #expect((512..<512 + 128).contains(pagesOfLog(directory)))
        try store.close()
        try TaskStore.check(at: database, thoroughly: true)
    }

    @Test func aLongReaderKeepsItsViewAndTheLogRestartsAfterIt() async throws {
        let directory = try StoreDirectory()
        let store = try open(directory)
        try await store.write { try $0.add(1) }
        let (reads, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let seen = store.read { reader in
            let before = try reader.counts.byState()
            reads.signal()
            mayEnd.wait()
            return [before, try reader.counts.byState()]
        }
        // Before the task above is waited for, whatever fails.
        defer { mayEnd.signal() }
        try await offThread { reads.wait() }
        let before = DiskFaults.plan(directory.database).syncs
        for _ in 0..<200 { try await store.write { try $0.add(1) } }
        let grown = pagesOfLog(directory)
        #expect(grown > 512)
        // Each commit syncs once; the checkpointer does not try at each of them.
        #expect(DiskFaults.plan(directory.database).syncs - before < 2 * 200)
        mayEnd.signal()
        #expect(try await seen == [[.queued: 1], [.queued: 1]])
        for _ in 0..<600 { try await store.write { try $0.add(1) } }
        #expect(pagesOfLog(directory) <= grown + 128)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseThatCouldNotBeSyncedIsMovedAgainByTheNextStart() async throws {
        let directory = try StoreDirectory()
        let store = try open(directory)
        DiskFaults.change(directory.database) { $0.databaseSyncFailure = SQLITE_IOERR | 4 << 8 }
        for _ in 0..<100 { try await store.write { try $0.add(1) } }
        #expect(!store.isDegraded)
        DiskFaults.change(directory.database) { $0.databaseSyncFailure = nil }
        let before = DiskFaults.plan(directory.database).syncs
        for _ in 0..<50 { try await store.write { try $0.add(1) } }
        // The commits' own syncs: the checkpointer does not trust a disk that failed once.
        #expect(DiskFaults.plan(directory.database).syncs == before + 50)
        try store.close()
        #expect(pagesOfLog(directory) > 512)
        let again = try directory.open()
        #expect(again.wasStoppedUncleanly)
        #expect(try await again.read { try $0.counts.byState() } == [.queued: 150])
        try again.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aFullDiskFailsNoCommitAndTheCheckpointIsRetried() async throws {
        let directory = try StoreDirectory()
        let store = try open(directory)
        DiskFaults.change(directory.database) { $0.databaseWriteFailure = SQLITE_FULL }
        for _ in 0..<100 { try await store.write { try $0.add(1) } }
        #expect(!store.isDegraded)
        let grown = pagesOfLog(directory)
        #expect(grown > 512)
        DiskFaults.change(directory.database) { $0.databaseWriteFailure = nil }
        for _ in 0..<300 { try await store.write { try $0.add(1) } }
        #expect(pagesOfLog(directory) <= grown + 128)
        #expect(try await store.read { try $0.counts.byState() } == [.queued: 400])
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aFinishedThreadReleasesItsWork() throws {
        final class Witness: Sendable {}
        weak var witness: Witness?
        let count = Locked(0)
        do {
            let work = Witness()
            witness = work
            let thread = try StoreThread("test", path: "") { withExtendedLifetime(work) { count.withLock { $0 += 1 } } }
            thread.request()
            thread.await()
            #expect(count.withLock(\.self) == 1)
            thread.request()
            thread.finish()
        }
        #expect(count.withLock(\.self) == 2)
        // Its last reference is the thread's own, let go of as it ends.
        while witness != nil { sched_yield() }
    }
}
