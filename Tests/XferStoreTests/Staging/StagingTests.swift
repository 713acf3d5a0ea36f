import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Files that wait, files that have their name, and hooks that are to run.
struct StagingTests {
    private static let partial = PartialLocation(directory: "/srv", identity: FileIdentity(device: 1, inode: 2))
    private static let facts = FileFacts(
        mark: FileMark(identity: FileIdentity(device: 1, inode: 77), bornAt: 3, generation: 4), length: 9,
        modifiedAt: 1_700_000_000_123_456_789, changedAt: 5)

    @Test func aReadyFileIsStoredAndForgottenWithItsTransfer() async throws {
        try await withStore { store in
            let digest = try Checksum(parsing: "sha-256=" + String(repeating: "0a", count: 32))
            try await store.write { tx in
                let transfer = try tx.transfers.insert(partial: Self.partial, at: noon)
                let id = try tx.add(1)[0]
                var file = ReadyFile(name: ".xfer-a.hook", finalName: "a.bin", isProcessed: true)
                try tx.readyFiles.set(file, of: id, transfer: transfer.id)
                #expect(try tx.readyFiles.find(of: id) == file)
                file.facts = Self.facts
                file.digest = digest
                try tx.readyFiles.set(file, of: id, transfer: transfer.id)
                #expect(try tx.readyFiles.find(of: id) == file)
                #expect(try tx.readyFiles.names(of: transfer.id) == [".xfer-a.hook"])
                // The task may be forgotten first: its file has to be found then.
                try tx.tasks.delete(id)
                #expect(try tx.readyFiles.names(of: transfer.id) == [".xfer-a.hook"])
                try tx.transfers.delete(transfer.id)
                #expect(try tx.readyFiles.find(of: id) == nil)
            }
            await #expect(throws: StoreError.noSuchTransfer(TransferID(99))) {
                try await store.write {
                    try $0.readyFiles.set(ReadyFile(name: "x", finalName: "x"), of: TaskID(1), transfer: TransferID(99))
                }
            }
        }
    }

    @Test func versionsOfBytesAreDistinguished() async throws {
        try await withStore { store in
            try await store.write { tx in
                let transfer = try tx.transfers.insert(partial: Self.partial, at: noon).id
                let id = try tx.add(1)[0]
                let first = try tx.transfers.byteVersion(of: transfer)
                try tx.transfers.update(
                    resumeData: ResumeData(segments: [Segment(start: 0, committed: 4)]), of: transfer)
                #expect(try tx.transfers.byteVersion(of: transfer) == first)
                try tx.transfers.update(resumeData: ResumeData(), of: transfer)
                let second = try tx.transfers.byteVersion(of: transfer)
                #expect(second != first)

                try tx.transfers.setPublishIntent(PublishIntent(finalName: "f", part: Self.facts), of: transfer)
                let task = try #require(try tx.tasks.find(id))
                #expect(try !tx.publishedFiles.record(task, from: transfer, size: 9))
                let published = PublishedFile(
                    mark: Self.facts.mark, length: 9, modifiedAt: Self.facts.modifiedAt, version: second)
                #expect(try tx.publishedFiles.find(of: id) == published)
                try tx.transfers.delete(transfer)
                #expect(try tx.publishedFiles.find(of: id) == published)
                try tx.tasks.delete(id)
                #expect(try tx.publishedFiles.find(of: id) == nil)
            }
        }
    }

    @Test func aFileMadeByAHookIsAnotherVersionAndReleasesTheBytes() async throws {
        try await withStore { store in
            try await store.write { tx in
                let transfer = try tx.transfers.insert(partial: Self.partial, at: noon).id
                var wanted = specification()
                wanted.completion.postProcess = "strip"
                let task = try tx.tasks.insert(wanted, state: .queued, at: noon)
                #expect(try tx.tasks.find(task.id)?.specification.completion == wanted.completion)
                let file = ReadyFile(name: "h", facts: Self.facts, finalName: "f", isProcessed: true)
                try tx.readyFiles.set(file, of: task.id, transfer: transfer)
                try tx.transfers.setPublishIntent(PublishIntent(finalName: "f", part: Self.facts), of: transfer)
                #expect(try tx.publishedFiles.record(task, from: transfer, size: 9))
                let version = try tx.transfers.byteVersion(of: transfer)
                #expect(try tx.publishedFiles.find(of: task.id)?.version == version + "p")
                // Nothing leads from the bytes that can go to the file that was published.
                #expect(try tx.transfers.find(transfer)?.publishIntent == nil)
                #expect(try tx.readyFiles.find(of: task.id) == nil)
            }
        }
    }

    @Test func interruptedCommitsAreThoseOfStagedTasks() async throws {
        try await withStore { store in
            try await store.write { tx in
                for (index, state) in [TaskState.staged, .running, .staged].enumerated() {
                    let transfer = try tx.transfers.insert(partial: Self.partial, at: noon).id
                    let id = try tx.add(1)[0]
                    var task = try #require(try tx.tasks.find(id))
                    task.state = state
                    task.transferID = transfer
                    try tx.tasks.update(task)
                    if index < 2 {
                        try tx.transfers.setPublishIntent(PublishIntent(finalName: "f", part: Self.facts), of: transfer)
                    }
                }
                #expect(try tx.readyFiles.interruptedCommits(limit: 9) == [TaskID(1)])
                #expect(try tx.readyFiles.interruptedCommits(after: TaskID(1), limit: 9) == [])
            }
        }
    }

    // MARK: Hooks

    private func withHooks(
        _ body: (TaskStore, Collected<Int>) async throws -> Void
    ) async throws {
        let directory = try StoreDirectory()
        let woken = Collected<Int>()
        let store = try TaskStore.open(
            StoreConfiguration(
                path: directory.database, onPendingHooks: { woken.append(1) },
                texts: StoreTexts(task: { "task \($0.id) is \($0.state)" })))
        try await body(store, woken)
        try store.close()
    }

    @Test func theEndOfATaskNotesItsHookInTheSameTransaction() async throws {
        try await withHooks { store, woken in
            var wanted = specification()
            wanted.completion = TaskCompletion(onComplete: "tell", onError: "cry")
            let ids = try await store.write { [wanted] tx in
                try (0..<3).map { _ in try tx.tasks.insert(wanted, state: .queued, at: noon).id } + tx.add(1)
            }
            #expect(woken.all.isEmpty)
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await store.write { tx in
                    try tx.setState(.completed, of: ids[0])
                    throw Undone()
                }
            }
            #expect(try await store.read { try $0.hooks.pending(limit: 9) }.isEmpty)
            try await store.write { tx in
                for (id, state) in zip(ids, [TaskState.completed, .failed, .cancelled, .completed]) {
                    try tx.setState(state, of: id, finishedAt: noon)
                    // Told once, however often the row is written.
                    try tx.setState(state, of: id, finishedAt: noon)
                }
            }
            #expect(!woken.all.isEmpty)
            let hooks = try await store.read { try $0.hooks.pending(limit: 9) }
            #expect(hooks.map(\.taskID) == [ids[0], ids[1]])
            #expect(hooks.map(\.hook) == ["tell", "cry"] && hooks.map(\.occasion) == [.onComplete, .onError])
            #expect(hooks.map(\.description) == ["task 1 is completed", "task 2 is failed"])
            // The hook stays pending although its task is removed.
            try await store.write { try $0.tasks.delete(ids[0]) }
            try await store.write { try $0.hooks.remove(hooks[1].id) }
            #expect(try await store.read { try $0.hooks.pending(limit: 9) } == [hooks[0]])
        }
    }
}
