import Glibc
import Testing
import XferFiles
import XferModel
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// What a start makes of a publish that was cut short between the intent's commit and the completion's.
@Suite struct RestoringPublishTests {
    private static let version = SourceVersion.tagged(4, length: 50_000)

    /// A state directory as a killed daemon leaves it: the task is running, every byte is there, and the intent to
    /// publish them as `a` is committed.
    private func interrupted() async throws -> (fixture: ManagerFixture, id: TaskID, part: String) {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version)
        let manager = try await fixture.open()
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        let downloads = fixture.downloads
        let directory = try DirectoryHandle(ofService: downloads)
        let identity = directory.identity
        let now = Clocks.wall()
        let transfer = try await manager.store.write { tx in
            try tx.transfers.insert(partial: PartialLocation(directory: downloads, identity: identity), at: now)
        }
        let part = "\(downloads)/\(transfer.partialName)"
        try FileTree.write(Self.version.bytes, to: part, mode: 0o600)
        let partFacts = try #require(try directory.facts(of: transfer.partialName))
        try await manager.store.write { tx in
            guard var task = try tx.tasks.find(id) else { return }
            task.state = .running
            task.transferID = transfer.id
            task.received = Self.version.length
            task.total = Self.version.length
            try tx.tasks.update(task)
            var data = ResumeData()
            data.totalLength = Self.version.length
            data.segments = [Segment(start: 0, committed: Self.version.length)]
            try tx.transfers.update(resumeData: data, of: transfer.id)
            try tx.transfers.setPublishIntent(PublishIntent(finalName: "a", part: partFacts), of: transfer.id)
        }
        await manager.shutdown(.suspend)
        return (fixture, id, part)
    }

    /// Starts again and gives how the task ended; nothing may be fetched for it.
    private func restored(_ fixture: ManagerFixture, _ id: TaskID) async throws -> TransferTask {
        let manager = try await fixture.open()
        try await manager.start()
        let task = try await fixture.end(of: id, in: manager)
        let terminal = try await fixture.events(of: id, in: manager).filter(\.isTerminal)
        #expect(terminal.count == 1)
        await manager.shutdown(.drain)
        #expect(fixture.server.requests.isEmpty)
        return task
    }

    @Test func aPublishInterruptedBeforeTheRenameIsRepeated() async throws {
        let (fixture, id, _) = try await interrupted()
        let task = try await restored(fixture, id)
        #expect(task.state == .completed)
        #expect(task.outcome.finalPath == fixture.downloads + "/a")
        #expect(try Self.version.equals(file: fixture.downloads + "/a"))
        #expect(try fixture.files() == ["a"])
    }

    @Test func aPublishInterruptedAfterTheRenameIsDone() async throws {
        let (fixture, id, part) = try await interrupted()
        #expect(rename(part, fixture.downloads + "/a") == 0)
        let task = try await restored(fixture, id)
        #expect(task.state == .completed)
        #expect(task.received == Self.version.length)
        #expect(try fixture.files() == ["a"])
    }

    /// Under another transfer it would be fetched and published a second time.
    @Test func aTaskRestoredAfterTheRenameJoinsNoOtherTransfer() async throws {
        let (fixture, id, part) = try await interrupted()
        #expect(rename(part, fixture.downloads + "/a") == 0)
        let manager = try await fixture.open()
        let other = try await fixture.add("/a", as: "b", to: manager)
        _ = try await manager.tasks.move([other], to: .top, for: ManagerFixture.caller)
        try await manager.start()
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.outcome.finalPath == fixture.downloads + "/a")
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        await manager.shutdown(.drain)
        #expect(try fixture.files() == ["a", "b"])
    }

    /// Another program took the name before the rename: its file stays.
    @Test func aPublishWhoseNameWasTakenMeanwhileGetsAnotherName() async throws {
        let (fixture, id, _) = try await interrupted()
        try FileTree.write("theirs", to: fixture.downloads + "/a")
        let task = try await restored(fixture, id)
        #expect(task.state == .completed)
        #expect(try FileTree.text(fixture.downloads + "/a") == "theirs")
        #expect(try Self.version.equals(file: try #require(task.outcome.finalPath)))
        #expect(try fixture.files().count == 2)
    }

    /// Neither file is there: another program removed it after the rename. The client decides whether to fetch again.
    @Test func aPublishWithNeitherPartNorFileFailsTheTask() async throws {
        let (fixture, id, part) = try await interrupted()
        #expect(unlink(part) == 0)
        let task = try await restored(fixture, id)
        #expect(task.state == .failed)
        #expect(task.error?.reason == .fileMoveFailed)
    }

    /// The row of a small file, which had no name before its final one: nothing is lost if it has none.
    @Test func aSmallFileThatDidNotGetItsNameIsFetchedAgain() async throws {
        let (fixture, id, part) = try await interrupted()
        #expect(unlink(part) == 0)
        let editing = try await fixture.open()
        try await editing.store.write { tx in
            guard let transfer = try tx.tasks.find(id)?.transferID else { return }
            try tx.transfers.update(resumeData: ResumeData(), of: transfer)
        }
        await editing.shutdown(.suspend)
        let manager = try await fixture.open()
        try await manager.start()
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed && task.outcome.finalPath == fixture.downloads + "/a")
        #expect(try Self.version.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.drain)
    }

    /// An intent that came to nothing does not outlast the run which finds that out: the next one would look in vain for
    /// its part.
    @Test func anEmptyFileIsPublishedAfterACrashAndARefusedRequest() async throws {
        let fixture = try await ManagerFixture()
        let isOpen = Gate()
        fixture.server.on("/e") { _ in isOpen.isOpen ? Reply(200, text: "") : Reply(503, text: "busy") }
        let first = try await fixture.open()
        let id = try await fixture.add("/e", as: "e", to: first, startsPaused: true)
        let directory = try DirectoryHandle(ofService: fixture.downloads)
        let (downloads, identity) = (fixture.downloads, directory.identity)
        let transfer = try await first.store.write { tx in
            try tx.transfers.insert(
                partial: PartialLocation(directory: downloads, identity: identity), at: Clocks.wall())
        }
        try FileTree.write("", to: "\(downloads)/\(transfer.partialName)", mode: 0o600)
        let facts = try #require(try directory.facts(of: transfer.partialName))
        try await first.store.write { tx in
            guard var task = try tx.tasks.find(id) else { return }
            task.state = .running
            task.transferID = transfer.id
            try tx.tasks.update(task)
            var data = ResumeData()
            data.totalLength = 0
            data.segments = [Segment(start: 0, committed: 0)]
            try tx.transfers.update(resumeData: data, of: transfer.id)
            try tx.transfers.setPublishIntent(PublishIntent(finalName: "e", part: facts), of: transfer.id)
        }
        await first.shutdown(.suspend)
        let manager = try await fixture.open()
        try await manager.start()
        try await eventually("it waits") {
            try await manager.queries.task(id, for: ManagerFixture.caller).state == .waiting
        }
        isOpen.open()
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed && task.received == 0, "\(String(describing: task.error))")
        #expect(try fixture.files() == ["e"])
        await manager.shutdown(.drain)
    }

    /// A cancel that was committed before the crash wins over the rename that was done.
    @Test func aTaskCancelledAfterTheRenameRemovesItsFile() async throws {
        let (fixture, id, part) = try await interrupted()
        #expect(rename(part, fixture.downloads + "/a") == 0)
        let cancelling = try await fixture.open()
        _ = try await cancelling.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller)
        await cancelling.shutdown(.suspend)
        let manager = try await fixture.open()
        try await manager.start()
        try await eventually("the file is gone") { try fixture.files().isEmpty }
        #expect(try await manager.queries.task(id, for: ManagerFixture.caller).state == .cancelled)
        await manager.shutdown(.suspend)
    }
}
