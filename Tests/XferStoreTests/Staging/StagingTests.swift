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
                let transfer = try tx.insertTransfer(partial: Self.partial, at: noon)
                let id = try tx.add(1)[0]
                var file = ReadyFile(name: ".xfer-a.hook", finalName: "a.bin", isProcessed: true)
                try tx.setReadyFile(file, of: id, transfer: transfer.id)
                #expect(try tx.readyFile(of: id) == file)
                file.facts = Self.facts
                file.digest = digest
                try tx.setReadyFile(file, of: id, transfer: transfer.id)
                #expect(try tx.readyFile(of: id) == file)
                #expect(try tx.readyFileNames(of: transfer.id) == [".xfer-a.hook"])
                // The task may be forgotten first: its file has to be found then.
                try tx.deleteTask(id)
                #expect(try tx.readyFileNames(of: transfer.id) == [".xfer-a.hook"])
                try tx.deleteTransfer(transfer.id)
                #expect(try tx.readyFile(of: id) == nil)
            }
            await #expect(throws: StoreError.noSuchTransfer(TransferID(99))) {
                try await store.write {
                    try $0.setReadyFile(ReadyFile(name: "x", finalName: "x"), of: TaskID(1), transfer: TransferID(99))
                }
            }
        }
    }

    @Test func versionsOfBytesAreDistinguished() async throws {
        try await withStore { store in
            try await store.write { tx in
                let transfer = try tx.insertTransfer(partial: Self.partial, at: noon).id
                let id = try tx.add(1)[0]
                let first = try tx.byteVersion(of: transfer)
                try tx.update(
                    resumeData: ResumeData(segments: [Segment(start: 0, committed: 4)]), of: transfer)
                #expect(try tx.byteVersion(of: transfer) == first)
                try tx.update(resumeData: ResumeData(), of: transfer)
                let second = try tx.byteVersion(of: transfer)
                #expect(second != first)

                try tx.setPublishIntent(PublishIntent(finalName: "f", part: Self.facts), of: transfer)
                let task = try #require(try tx.task(id))
                #expect(try !tx.recordPublished(task, from: transfer, size: 9))
                let published = PublishedFile(
                    mark: Self.facts.mark, length: 9, modifiedAt: Self.facts.modifiedAt, version: second)
                #expect(try tx.publishedFile(of: id) == published)
                try tx.deleteTransfer(transfer)
                #expect(try tx.publishedFile(of: id) == published)
                try tx.deleteTask(id)
                #expect(try tx.publishedFile(of: id) == nil)
            }
        }
    }

    @Test func aFileMadeByAHookIsAnotherVersionAndReleasesTheBytes() async throws {
        try await withStore { store in
            try await store.write { tx in
                let transfer = try tx.insertTransfer(partial: Self.partial, at: noon).id
                var wanted = specification()
                wanted.completion.postProcess = "strip"
                let task = try tx.insertTask(wanted, state: .queued, at: noon)
                #expect(try tx.task(task.id)?.specification.completion == wanted.completion)
                let file = ReadyFile(name: "h", facts: Self.facts, finalName: "f", isProcessed: true)
                try tx.setReadyFile(file, of: task.id, transfer: transfer)
                try tx.setPublishIntent(PublishIntent(finalName: "f", part: Self.facts), of: transfer)
                #expect(try tx.recordPublished(task, from: transfer, size: 9))
                let version = try tx.byteVersion(of: transfer)
                #expect(try tx.publishedFile(of: task.id)?.version == version + "p")
                // Nothing leads from the bytes that can go to the file that was published.
                #expect(try tx.transfer(transfer)?.publishIntent == nil)
                #expect(try tx.readyFile(of: task.id) == nil)
            }
        }
    }

    @Test func interruptedCommitsAreThoseOfStagedTasks() async throws {
        try await withStore { store in
            try await store.write { tx in
                for (index, state) in [TaskState.staged, .running, .staged].enumerated() {
                    let transfer = try tx.insertTransfer(partial: Self.partial, at: noon).id
                    let id = try tx.add(1)[0]
                    var task = try #require(try tx.task(id))
                    task.state = state
                    task.transferID = transfer
                    try tx.update(task)
                    if index < 2 {
                        try tx.setPublishIntent(PublishIntent(finalName: "f", part: Self.facts), of: transfer)
                    }
                }
                #expect(try tx.interruptedCommits(limit: 9) == [TaskID(1)])
                #expect(try tx.interruptedCommits(after: TaskID(1), limit: 9) == [])
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
                try (0..<3).map { _ in try tx.insertTask(wanted, state: .queued, at: noon).id } + tx.add(1)
            }
            #expect(woken.all.isEmpty)
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await store.write { tx in
                    try tx.setState(.completed, of: ids[0])
                    throw Undone()
                }
            }
            #expect(try await store.read { try $0.pendingHooks(limit: 9) }.isEmpty)
            try await store.write { tx in
                for (id, state) in zip(ids, [TaskState.completed, .failed, .cancelled, .completed]) {
                    try tx.setState(state, of: id, finishedAt: noon)
                    // Told once, however often the row is written.
                    try tx.setState(state, of: id, finishedAt: noon)
                }
            }
            #expect(!woken.all.isEmpty)
            let hooks = try await store.read { try $0.pendingHooks(limit: 9) }
            #expect(hooks.map(\.taskID) == [ids[0], ids[1]])
            #expect(hooks.map(\.hook) == ["tell", "cry"] && hooks.map(\.occasion) == [.onComplete, .onError])
            #expect(hooks.map(\.description) == ["task 1 is completed", "task 2 is failed"])
            // The hook stays pending although its task is removed.
            try await store.write { try $0.deleteTask(ids[0]) }
            try await store.write { try $0.removePendingHook(hooks[1].id) }
            #expect(try await store.read { try $0.pendingHooks(limit: 9) } == [hooks[0]])
        }
    }
}
