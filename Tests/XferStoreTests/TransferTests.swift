import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Transfers, their segments, and names that are spoken for.
struct TransferTests {
    private static let partial = PartialLocation(
        directory: "/srv/ü", identity: FileIdentity(device: 1 << 63, inode: .max))

    @Test func aTransferIsReadBackWithAllItsResumeData() async throws {
        try await withStore { store in
            let inserted = try await store.write { try $0.insertTransfer(partial: Self.partial, at: noon) }
            #expect(try await store.read { try $0.transfer(inserted.id) } == inserted)
            var transfer = inserted
            transfer.resumeData = ResumeData(
                validators: Validators(etag: "\"a\"", lastModified: "Tue", date: "Wed"), totalLength: 1 << 40,
                contentEncoding: "identity",
                finalURL: HTTPURL(scheme: .http, host: "a", port: 1, target: "/b?c"),
                selectingHeaders: [HeaderField(name: "Accept", value: "a, \"b\"")],
                segments: [Segment(start: 0, end: 10, committed: 5), Segment(start: 10, committed: 10)])
            let mark = FileMark(identity: FileIdentity(device: 3, inode: 1 << 63), bornAt: -1, generation: .max)
            transfer.resumeData.part = PartRecord(mark: mark, rest: PartRecord.Rest(length: 5, modifiedAt: .max))
            transfer.publishIntent = PublishIntent(
                finalName: "f", part: FileFacts(mark: mark, length: 1 << 40, modifiedAt: .min, changedAt: 7),
                digest: Checksum(algorithm: .md5, bytes: Array(1...16)))
            transfer.partial.directory = "/elsewhere"
            let changed = transfer
            try await store.write { transaction throws in
                try transaction.update(resumeData: changed.resumeData, of: changed.id)
                try transaction.setPublishIntent(changed.publishIntent, of: changed.id)
                try transaction.update(partial: changed.partial, of: changed.id)
            }
            #expect(try await store.read { try $0.transfer(changed.id) } == changed)
            try await store.write { transaction throws in
                try transaction.setPublishIntent(nil, of: changed.id)
                try transaction.update(resumeData: ResumeData(), of: changed.id)
            }
            let use = SourceUse(
                described: 15, senders: [0, 15], unprovenFrom: 7_000_000_000, suspects: [1, 2], excluded: [2])
            try await store.write { try $0.setSourceUse(use, of: changed.id) }
            #expect(try await store.read { try $0.transfer(changed.id)?.sourceUse } == use)
            let cleared = try await store.read { try $0.transfer(changed.id) }
            #expect(cleared?.resumeData == ResumeData())
            #expect(cleared?.publishIntent == nil)
        }
    }

    @Test func aCheckpointReplacesSegmentsHoweverTheyWereSplitOrJoined() async throws {
        try await withStore { store in
            let id = try await store.write { try $0.insertTransfer(partial: Self.partial, at: noon).id }
            let plans: [[Segment]] = [
                [Segment(start: 0, committed: 0)],
                [Segment(start: 0, committed: 700)],
                [Segment(start: 0, end: 1000, committed: 800), Segment(start: 1000, end: 2000, committed: 1000)],
                [Segment(start: 0, end: 500, committed: 500), Segment(start: 500, end: 2000, committed: 900)],
                [Segment(start: 0, end: 2000, committed: 2000)],
                [],
            ]
            for segments in plans {
                try await store.write(.gathered) { try $0.checkpoint(id, segments: segments) }
                #expect(try await store.read { try $0.transfer(id)?.resumeData.segments } == segments)
            }
        }
    }

    @Test func aRemovedTransferIsDetachedFromItsTasks() async throws {
        try await withStore { store in
            let (ids, transfers) = try await store.write { tx in
                let ids = try tx.add(3)
                let transfers = try (0..<2).map { _ in
                    try tx.insertTransfer(partial: PartialLocation(directory: "/srv", identity: .unknown), at: noon).id
                }
                for (id, transfer) in zip(ids, [transfers[0], transfers[0], transfers[1]]) {
                    var task = try #require(try tx.task(id))
                    task.transferID = transfer
                    try tx.update(task)
                }
                return (ids, transfers)
            }
            try await store.write { try $0.deleteTransfer(transfers[0]) }
            let left = try await store.read { reader in try ids.map { try reader.task($0)?.transferID } }
            #expect(left == [nil, nil, transfers[1]])
        }
    }

    @Test func changingARemovedTransferIsRefused() async throws {
        try await withStore { store in
            let gone = TransferID(9)
            await #expect(throws: StoreError.noSuchTransfer(gone)) {
                try await store.write { try $0.update(resumeData: ResumeData(), of: gone) }
            }
            await #expect(throws: StoreError.noSuchTransfer(gone)) {
                try await store.write { try $0.checkpoint(gone, segments: [Segment(start: 0, committed: 0)]) }
            }
            await #expect(throws: StoreError.noSuchTransfer(gone)) {
                try await store.write { try $0.setPublishIntent(nil, of: gone) }
            }
            #expect(try await store.read { try $0.transfer(gone) } == nil)
            try await store.write { try $0.deleteTransfer(gone) }
        }
    }

    @Test func transfersWithoutATaskAreFoundAndTheirIDsNeverReused() async throws {
        try await withStore { store in
            let ids = try await store.write { transaction throws in
                let ids = try (0..<3).map { _ in try transaction.insertTransfer(partial: Self.partial, at: noon).id }
                let task = try transaction.add(1)[0]
                var subscriber = try #require(try transaction.task(task))
                subscriber.transferID = ids[1]
                try transaction.update(subscriber)
                try transaction.checkpoint(ids[2], segments: [Segment(start: 0, committed: 4)])
                return ids
            }
            try await store.write { transaction throws in
                let orphans = try transaction.orphanedTransfers(limit: 9)
                #expect(orphans.map(\.id) == [ids[0], ids[2]])
                #expect(orphans.last?.resumeData.committedByteCount == 4)
                #expect(try transaction.orphanedTransfers(after: ids[0], limit: 1).map(\.id) == [ids[2]])
                #expect(try transaction.orphanedTransfers(upTo: ids[1], limit: 9).map(\.id) == [ids[0]])
                try transaction.deleteTransfer(ids[1])
                #expect(try transaction.task(TaskID(1))?.transferID == nil)
                try transaction.deleteTransfer(ids[2])
                #expect(try transaction.insertTransfer(partial: Self.partial, at: noon).id > ids[2])
            }
        }
    }

    /// A cancel commits first and deletes afterwards: what a crash left in between is found at the next start.
    @Test(arguments: TaskState.allCases) func onlyCancelledTasksLeaveAnOrphanedTransfer(
        state: TaskState
    ) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let id = try transaction.insertTransfer(partial: Self.partial, at: noon).id
                var subscriber = try #require(try transaction.task(try transaction.add(1)[0]))
                (subscriber.transferID, subscriber.state) = (id, state)
                try transaction.update(subscriber)
                #expect(try transaction.orphanedTransfers(limit: 9).map(\.id) == (state == .cancelled ? [id] : []))
            }
        }
    }

    @Test func aNameIsReservedForOneTask() async throws {
        try await withStore { store in
            let directory = Self.partial.identity
            let other = FileIdentity(device: directory.device, inode: 5)
            try await store.write { transaction throws in
                let ids = try transaction.add(2)
                #expect(try transaction.reserve("a", in: directory, by: ids[0]))
                #expect(try transaction.reserve("a", in: directory, by: ids[0]))
                #expect(try !transaction.reserve("a", in: directory, by: ids[1]))
                #expect(try transaction.reserve("a", in: other, by: ids[1]))
                #expect(try transaction.reserve("A", in: directory, by: ids[1]))
                #expect(try transaction.holder(ofName: "a", in: directory) == ids[0])
                try transaction.releaseReservations(of: ids[0])
                #expect(try transaction.holder(ofName: "a", in: directory) == nil)
                #expect(try transaction.holder(ofName: "A", in: directory) == ids[1])
                // A deleted task gives its names back.
                try transaction.deleteTask(ids[1])
                #expect(try transaction.reserve("A", in: directory, by: ids[0]))
                #expect(throws: StoreError.noSuchTask(TaskID(77))) {
                    try transaction.reserve("b", in: directory, by: TaskID(77))
                }
            }
        }
    }

    @Test func settingsSurviveAReopening() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        try await store.write { transaction throws in
            try transaction.setSetting("a", "1")
            try transaction.setSetting("a", "2")
            try transaction.setSetting("b", "")
            try transaction.setSetting("c", "3")
            try transaction.setSetting("c", nil)
        }
        try store.close()
        store = try directory.open()
        let settings = try await store.read { reader in try ["a", "b", "c"].map { try reader.setting($0) } }
        #expect(settings == ["2", "", nil])
        try store.close()
    }
}
