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
                let task = try tx.tasks.insert(specification("h", path: "/\(number)"), state: .queued, at: noon)
                try tx.events.append(.taskResumed, taskID: task.id, at: noon)
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
        #expect(try await store.read { try $0.counts.byState()[.queued] } == 350)
        try store.close()
    }

    @Test func aRestoredDatabaseHasAnotherIDAndContinuesBeyondWhatClientsCanKnow() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        let former = store.storeID
        let kept = try await store.write { tx in
            _ = try tx.tokens.add(
                StoredToken(
                    token: AccessToken(name: "phone", owner: Owner(uid: 1), scope: .own, createdAt: noon),
                    digest: [UInt8](repeating: 7, count: 32)))
            return try tx.add(3)
        }
        let copy = directory.path + "/copy"
        _ = try store.backUp(to: copy)
        let later = try await store.write { tx in
            let ids = try tx.add(5)
            for id in ids { try tx.events.append(.taskResumed, taskID: id, at: noon) }
            return ids
        }
        let lastSeq = try await store.read { try $0.events.lastSeq() }
        try store.close()

        let report = try TaskStore.restore(copy, at: directory.database, now: noon)
        #expect(report.taskCount == 3 && report.revokedTokens == 1 && report.seq > lastSeq + 1_000_000)
        store = try directory.open()
        #expect(store.storeID != former && store.storeID == report.storeID)
        let (seq, tokens, settled) = try await store.read {
            (try $0.events.lastSeq(), try $0.tokens.all(), try $0.settings.find(TaskStore.restoredSetting))
        }
        #expect(seq == report.seq && tokens.isEmpty && settled != nil)
        let added = try await store.write { try $0.add(1) }
        // Ids stay short: the replaced database tells which ones clients can know.
        #expect(added[0].rawValue == (later.map(\.rawValue).max() ?? 0) + 1001)
        for id in kept { #expect(try await store.read { try $0.tasks.find(id) } != nil) }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
        // Nothing is deleted.
        let setAside = try #require(report.setAside)
        try TaskStore.check(at: setAside, thoroughly: true)
    }

    @Test func withoutTheReplacedDatabaseIdsContinueWhereNoneIsLikelyToBeKnown() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let kept = try await store.write { try $0.add(3) }
        let copy = directory.path + "/copy"
        _ = try store.backUp(to: copy)
        try store.close()
        for suffix in ["", "-wal", "-shm"] { unlink(directory.database + suffix) }
        _ = try TaskStore.restore(copy, at: directory.database, now: noon)
        let restored = try directory.open()
        let added = try await restored.write { try $0.add(1) }
        #expect(added[0].rawValue == (kept.map(\.rawValue).max() ?? 0) + 100_001)
        try restored.close()
    }

    @Test(arguments: [false, true])
    func whatIdentifiesFilesOfAnotherMachineIsForgotten(isSameStore: Bool) async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let place = FileIdentity(device: 3, inode: 4)
        let record = PartRecord(
            mark: FileMark(identity: FileIdentity(device: 3, inode: 5), bornAt: 6, generation: 7),
            rest: PartRecord.Rest(length: 8, modifiedAt: 9))
        let (task, transfer) = try await store.write { tx in
            var asked = specification("h")
            asked.destination.directoryIdentity = place
            let task = try tx.tasks.insert(asked, state: .paused, at: noon)
            let partial = PartialLocation(directory: asked.destination.directory, identity: place)
            let transfer = try tx.transfers.insert(partial: partial, at: noon)
            var data = ResumeData(segments: [Segment(start: 0, committed: 8)])
            data.part = record
            try tx.transfers.update(resumeData: data, of: transfer.id)
            return (task.id, transfer.id)
        }
        let copy = directory.path + "/copy"
        _ = try store.backUp(to: copy)
        try store.close()
        if !isSameStore { for suffix in ["", "-wal", "-shm"] { unlink(directory.database + suffix) } }
        _ = try TaskStore.restore(copy, at: directory.database, now: noon)
        let restored = try directory.open()
        let (found, bytes) = try await restored.read { (try $0.tasks.find(task), try $0.transfers.find(transfer)) }
        #expect(found?.specification.destination.directoryIdentity == (isSameStore ? place : nil))
        #expect(bytes?.partial.identity == (isSameStore ? place : .unknown))
        var expected = record
        if !isSameStore { expected.mark = FileMark(identity: .unknown) }
        #expect(bytes?.resumeData.part == expected && bytes?.resumeData.committedByteCount == 8)
        try restored.close()
    }

    @Test(
        arguments: [
            // Backup, replaced database, whether it is the same one, the number after which ids continue.
            (50, 80, true, 1080), (50, 50, true, 1050), (50, nil, false, 100_050), (50, 80, false, 100_080),
            // A database with fewer ids than its backup was itself restored from an older one.
            (50, 40, true, 100_050), (300_000, nil, false, 600_000), (Int64.max, nil, false, .max),
            (5_000_000_000, nil, false, 6_000_000_000), (0, nil, false, 100_000),
        ] as [(Int64, Int64?, Bool, Int64)])
    func idsContinueBeyondThoseThatClientsCanKnow(own: Int64, replaced: Int64?, isSame: Bool, last: Int64) {
        for table in ["task", "batch"] {
            #expect(RestoredNumbers.last(in: table, own: own, replaced: replaced, isSameStore: isSame) == last)
        }
        let event = RestoredNumbers.last(in: "event", own: own, replaced: replaced, isSameStore: isSame)
        #expect(event == max(own, replaced ?? 0).addingReportingOverflow(1_000_000_000).partialValue || own == .max)
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
