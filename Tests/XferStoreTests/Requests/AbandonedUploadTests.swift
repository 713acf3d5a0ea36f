import Testing
import XferModel

@testable import XferStore

/// Uploads of cancelled tasks that the service still has to delete on their servers.
@Suite struct AbandonedUploadTests {
    private static let place = HTTPURL(scheme: .https, host: "up.example", port: 8443, target: "/uploads/1?k=v")

    /// A cancelled task whose server keeps the beginning of its upload.
    private func cancelled(_ store: TaskStore) async throws -> TransferTask {
        try await store.write { tx in
            var wanted = specification("up.example", path: "/files")
            wanted.kind = .upload
            wanted.upload.uploadProtocol = .tus
            wanted.policy = "bank"
            wanted.profile = "api"
            wanted.request.headers = [HeaderField(name: "X-A", value: "b")]
            wanted.request.credential = Credential(
                scheme: .bearer, user: "", secret: .environment("TOKEN"))
            var task = try tx.tasks.insert(wanted, state: .queued, at: noon)
            let transfer = try tx.transfers.insert(
                partial: PartialLocation(directory: "/srv", identity: .unknown), at: noon)
            try tx.transfers.setUpload(UploadResumeData(url: Self.place, offset: 5), of: transfer.id)
            task.transferID = transfer.id
            task.state = .cancelled
            task.finishedAt = noon
            try tx.tasks.update(task)
            return task
        }
    }

    @Test func anAbandonedUploadOutlivesItsTaskWithItsRequestOptions() async throws {
        try await withStore { store in
            let task = try await cancelled(store)
            try await store.write { tx in
                try tx.abandonedUploads.add(of: task, at: noon)
                try tx.tasks.delete(task.id)
            }
            let due = try await store.read { try $0.abandonedUploads.due(now: noon, limit: 9) }
            let upload = try #require(due.first)
            #expect(due.count == 1)
            #expect(upload.url == Self.place)
            #expect(upload.taskID == task.id)
            #expect((upload.abandonedAt, upload.attempts) == (noon, 0))
            let (kept, asked) = (upload.specification, task.specification)
            #expect(kept.request == asked.request)
            #expect((kept.owner, kept.policy, kept.profile) == (asked.owner, asked.policy, asked.profile))
            #expect(kept.upload == asked.upload)
        }
    }

    @Test func anUploadAbandonedTwiceIsStoredOnce() async throws {
        try await withStore { store in
            let task = try await cancelled(store)
            let transfer = try #require(task.transferID)
            try await store.write { try $0.abandonedUploads.add(of: task, at: noon) }
            #expect(try await store.read { try $0.transfers.upload(of: transfer) } == nil)
            try await store.write { tx in
                try tx.transfers.setUpload(UploadResumeData(url: Self.place, offset: 9), of: transfer)
                try tx.abandonedUploads.add(of: task, at: noon)
            }
            #expect(try await store.read { try $0.abandonedUploads.due(now: noon, limit: 9) }.count == 1)
        }
    }

    /// What a daemon leaves that is killed right behind a cancel.
    @Test func aCancelledTaskKeepsNoTransfer() async throws {
        try await withStore { store in
            let task = try await cancelled(store)
            #expect(try await store.read { try $0.transfers.orphans(limit: 9) }.map(\.id) == [task.transferID])
        }
    }

    @Test func aFailedDeletionIsDueLaterAndADoneOneIsForgotten() async throws {
        try await withStore { store in
            let task = try await cancelled(store)
            let later = noon.advanced(by: .seconds(60))
            let id = try await store.write { tx in
                try tx.abandonedUploads.add(of: task, at: noon)
                let id = try tx.abandonedUploads.due(now: noon, limit: 1)[0].id
                try tx.abandonedUploads.postpone(id, until: later)
                return id
            }
            #expect(try await store.read { try $0.abandonedUploads.due(now: noon, limit: 9) }.isEmpty)
            #expect(try await store.read { try $0.abandonedUploads.next(after: noon) } == later)
            let due = try await store.read { try $0.abandonedUploads.due(now: later, limit: 9) }
            #expect(due.map(\.attempts) == [1])
            #expect(try await store.read { try $0.abandonedUploads.next(after: later) } == nil)
            try await store.write { try $0.abandonedUploads.remove(id) }
            #expect(try await store.read { try $0.abandonedUploads.due(now: later, limit: 9) }.isEmpty)
        }
    }
}
