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
            let inserted = try await store.write { try $0.transfers.insert(partial: Self.partial, at: noon) }
            #expect(try await store.read { try $0.transfers.find(inserted.id) } == inserted)
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
                try transaction.transfers.update(resumeData: changed.resumeData, of: changed.id)
                try transaction.transfers.setPublishIntent(changed.publishIntent, of: changed.id)
                try transaction.transfers.update(partial: changed.partial, of: changed.id)
            }
            #expect(try await store.read { try $0.transfers.find(changed.id) } == changed)
            try await store.write { transaction throws in
                try transaction.transfers.setPublishIntent(nil, of: changed.id)
                try transaction.transfers.update(resumeData: ResumeData(), of: changed.id)
            }
            let use = SourceUse(
                described: 15, senders: [0, 15], unprovenFrom: 7_000_000_000, suspects: [1, 2], excluded: [2])
            try await store.write { try $0.transfers.setSourceUse(use, of: changed.id) }
            #expect(try await store.read { try $0.transfers.find(changed.id)?.sourceUse } == use)
            let cleared = try await store.read { try $0.transfers.find(changed.id) }
            #expect(cleared?.resumeData == ResumeData())
            #expect(cleared?.publishIntent == nil)
        }
    }

    @Test func aCheckpointReplacesSegmentsHoweverTheyWereSplitOrJoined() async throws {
        try await withStore { store in
            let id = try await store.write { try $0.transfers.insert(partial: Self.partial, at: noon).id }
            let plans: [[Segment]] = [
                [Segment(start: 0, committed: 0)],
                [Segment(start: 0, committed: 700)],
                [Segment(start: 0, end: 1000, committed: 800), Segment(start: 1000, end: 2000, committed: 1000)],
                [Segment(start: 0, end: 500, committed: 500), Segment(start: 500, end: 2000, committed: 900)],
                [Segment(start: 0, end: 2000, committed: 2000)],
                [],
            ]
            for segments in plans {
                try await store.write(.gathered) { try $0.transfers.checkpoint(id, segments: segments) }
                #expect(try await store.read { try $0.transfers.find(id)?.resumeData.segments } == segments)
            }
        }
    }

    @Test func aRemovedTransferIsDetachedFromItsTasks() async throws {
        try await withStore { store in
            let (ids, transfers) = try await store.write { tx in
                let ids = try tx.add(3)
                let transfers = try (0..<2).map { _ in
                    try tx.transfers.insert(partial: PartialLocation(directory: "/srv", identity: .unknown), at: noon)
                        .id
                }
                for (id, transfer) in zip(ids, [transfers[0], transfers[0], transfers[1]]) {
                    var task = try #require(try tx.tasks.find(id))
                    task.transferID = transfer
                    try tx.tasks.update(task)
                }
                return (ids, transfers)
            }
            try await store.write { try $0.transfers.delete(transfers[0]) }
            let left = try await store.read { reader in try ids.map { try reader.tasks.find($0)?.transferID } }
            #expect(left == [nil, nil, transfers[1]])
        }
    }

    @Test func changingARemovedTransferIsRefused() async throws {
        try await withStore { store in
            let gone = TransferID(9)
            await #expect(throws: StoreError.noSuchTransfer(gone)) {
                try await store.write { try $0.transfers.update(resumeData: ResumeData(), of: gone) }
            }
            await #expect(throws: StoreError.noSuchTransfer(gone)) {
                try await store.write { try $0.transfers.checkpoint(gone, segments: [Segment(start: 0, committed: 0)]) }
            }
            await #expect(throws: StoreError.noSuchTransfer(gone)) {
                try await store.write { try $0.transfers.setPublishIntent(nil, of: gone) }
            }
            #expect(try await store.read { try $0.transfers.find(gone) } == nil)
            try await store.write { try $0.transfers.delete(gone) }
        }
    }

    @Test func transfersWithoutATaskAreFoundAndTheirIDsNeverReused() async throws {
        try await withStore { store in
            let ids = try await store.write { transaction throws in
                let ids = try (0..<3).map { _ in try transaction.transfers.insert(partial: Self.partial, at: noon).id }
                let task = try transaction.add(1)[0]
                var subscriber = try #require(try transaction.tasks.find(task))
                subscriber.transferID = ids[1]
                try transaction.tasks.update(subscriber)
                try transaction.transfers.checkpoint(ids[2], segments: [Segment(start: 0, committed: 4)])
                return ids
            }
            try await store.write { transaction throws in
                let orphans = try transaction.transfers.orphans(limit: 9)
                #expect(orphans.map(\.id) == [ids[0], ids[2]])
                #expect(orphans.last?.resumeData.committedByteCount == 4)
                #expect(try transaction.transfers.orphans(after: ids[0], limit: 1).map(\.id) == [ids[2]])
                #expect(try transaction.transfers.orphans(upTo: ids[1], limit: 9).map(\.id) == [ids[0]])
                try transaction.transfers.delete(ids[1])
                #expect(try transaction.tasks.find(TaskID(1))?.transferID == nil)
                try transaction.transfers.delete(ids[2])
                #expect(try transaction.transfers.insert(partial: Self.partial, at: noon).id > ids[2])
            }
        }
    }

    /// A cancel commits first and deletes afterwards: what a crash left in between is found at the next start.
    @Test(arguments: TaskState.allCases) func onlyCancelledTasksLeaveAnOrphanedTransfer(
        state: TaskState
    ) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let id = try transaction.transfers.insert(partial: Self.partial, at: noon).id
                var subscriber = try #require(try transaction.tasks.find(try transaction.add(1)[0]))
                (subscriber.transferID, subscriber.state) = (id, state)
                try transaction.tasks.update(subscriber)
                #expect(try transaction.transfers.orphans(limit: 9).map(\.id) == (state == .cancelled ? [id] : []))
            }
        }
    }

    @Test func aNameIsReservedForOneTask() async throws {
        try await withStore { store in
            let directory = Self.partial.identity
            let other = FileIdentity(device: directory.device, inode: 5)
            try await store.write { transaction throws in
                let ids = try transaction.add(2)
                #expect(try transaction.reservations.reserve("a", in: directory, by: ids[0]))
                #expect(try transaction.reservations.reserve("a", in: directory, by: ids[0]))
                #expect(try !transaction.reservations.reserve("a", in: directory, by: ids[1]))
                #expect(try transaction.reservations.reserve("a", in: other, by: ids[1]))
                #expect(try transaction.reservations.reserve("A", in: directory, by: ids[1]))
                #expect(try transaction.reservations.holder(ofName: "a", in: directory) == ids[0])
                try transaction.reservations.release(of: ids[0])
                #expect(try transaction.reservations.holder(ofName: "a", in: directory) == nil)
                #expect(try transaction.reservations.holder(ofName: "A", in: directory) == ids[1])
                // A deleted task gives its names back.
                try transaction.tasks.delete(ids[1])
                #expect(try transaction.reservations.reserve("A", in: directory, by: ids[0]))
                #expect(throws: StoreError.noSuchTask(TaskID(77))) {
                    try transaction.reservations.reserve("b", in: directory, by: TaskID(77))
                }
            }
        }
    }

    @Test func settingsSurviveAReopening() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        try await store.write { transaction throws in
            try transaction.settings.set("a", "1")
            try transaction.settings.set("a", "2")
            try transaction.settings.set("b", "")
            try transaction.settings.set("c", "3")
            try transaction.settings.set("c", nil)
        }
        try store.close()
        store = try directory.open()
        let settings = try await store.read { reader in try ["a", "b", "c"].map { try reader.settings.find($0) } }
        #expect(settings == ["2", "", nil])
        try store.close()
    }
}
