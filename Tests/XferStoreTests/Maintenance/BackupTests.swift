import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Copies of a database in use, and what a restore makes of them.
@Suite struct BackupTests {
    @Test func aBackupHoldsWhatWasCommittedBeforeItAndTheStoreGoesOn() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try await store.write { tx in
            for number in 1...300 {
                let task = try tx.insertTask(specification("h", path: "/\(number)"), state: .queued, at: noon)
                try tx.append(.taskResumed, taskID: task.id, at: noon)
            }
        }
        let copy = directory.path + "/copy"
        async let busy: Void = {
            for _ in 0..<50 { try await store.write { _ = try $0.add(1) } }
        }()
        let seq = try store.backUp(to: copy)
        try await busy
        #expect(seq >= 300)
        var status = stat()
        #expect(stat(copy, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try TaskStore.check(at: copy, thoroughly: true)
        #expect(try await store.read { try $0.counts()[.queued] } == 350)
        try store.close()
    }

    @Test func aRestoredDatabaseHasAnotherIDAndContinuesBeyondWhatClientsCanKnow() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        let former = store.storeID
        let kept = try await store.write { tx in
            _ = try tx.addToken(
                StoredToken(
                    token: AccessToken(name: "phone", owner: Owner(uid: 1), scope: .own, createdAt: noon),
                    digest: [UInt8](repeating: 7, count: 32)))
            return try tx.add(3)
        }
        let copy = directory.path + "/copy"
        _ = try store.backUp(to: copy)
        let later = try await store.write { tx in
            let ids = try tx.add(5)
            for id in ids { try tx.append(.taskResumed, taskID: id, at: noon) }
            return ids
        }
        let lastSeq = try await store.read { try $0.lastSeq() }
        try store.close()

        let report = try TaskStore.restore(copy, at: directory.database, now: noon)
        #expect(report.taskCount == 3 && report.revokedTokens == 1 && report.seq > lastSeq + 1_000_000)
        store = try directory.open()
        #expect(store.storeID != former && store.storeID == report.storeID)
        let (seq, tokens, settled) = try await store.read {
            (try $0.lastSeq(), try $0.tokens(), try $0.setting(TaskStore.restoredSetting))
        }
        #expect(seq == report.seq && tokens.isEmpty && settled != nil)
        let added = try await store.write { try $0.add(1) }
        #expect(added[0].rawValue > (later.map(\.rawValue).max() ?? 0) + 1_000_000)
        for id in kept { #expect(try await store.read { try $0.task(id) } != nil) }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
        // Nothing is deleted.
        let setAside = try #require(report.setAside)
        try TaskStore.check(at: setAside, thoroughly: true)
    }

    @Test func aDamagedOrForeignBackupChangesNothing() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let storeID = store.storeID
        let copy = directory.path + "/copy"
        _ = try store.backUp(to: copy)
        try store.close()
        let bytes = try #require(directory.bytes())
        for content in ["SQLite format 3\0" + String(repeating: "x", count: 5000), "not a database", ""] {
            try FileTree.write(content, to: copy)
            #expect(throws: StoreError.self) { try TaskStore.restore(copy, at: directory.database, now: noon) }
            #expect(!FileTree.exists(copy))
        }
        #expect(directory.bytes() == bytes)
        let reopened = try directory.open()
        #expect(reopened.storeID == storeID)
        try reopened.close()
    }
}
