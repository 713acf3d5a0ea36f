import Glibc
import Testing
import XferFiles
import XferModel
import XferProtocol
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// Files that are not this service's are neither deleted nor taken for a download, whatever their names and inode numbers.
@Suite struct ForeignFileTests {
    private static let version = SourceVersion.tagged(31, length: 300_000)

    /// A download that has 100,000 bytes and gets the rest once the gate is open.
    private struct Stalled {
        let fixture: ManagerFixture
        let manager: TransferManager
        let id: TaskID
        let gate = Gate()

        init(retries: Int? = 0) async throws {
            fixture = try await ManagerFixture()
            fixture.server.serve("/a", ForeignFileTests.version).next([.stall(at: 100_000, until: gate)])
            manager = try await fixture.open()
            try await manager.start()
            id = try await fixture.add("/a", as: "a", to: manager) { $0.retry.maxRetries = retries }
            try await eventually("bytes have come") { [manager, id] in
                await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
            }
        }

        var part: String {
            get throws {
                let name = try #require(try fixture.files().first { $0.hasSuffix(".part") })
                return "\(fixture.downloads)/\(name)"
            }
        }

        func apply(_ verb: TaskVerb) async throws {
            #expect(try await manager.tasks.apply(verb, to: [id], for: ManagerFixture.caller).changed == [id])
        }

        func completes() async throws -> TransferTask {
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed, "\(String(describing: task.error))")
            #expect(try ForeignFileTests.version.equals(file: try #require(task.outcome.finalPath)))
            return task
        }
    }

    /// Puts a file under the name whose inode number another one had until now, if the file system gives it again.
    private static func put(_ text: String, at path: String, withNumberOf gone: UInt64) throws {
        for attempt in 0..<64 {
            try FileTree.write(text, to: path)
            var facts = stat()
            if stat(path, &facts) == 0, UInt64(facts.st_ino) == gone { return }
            rename(path, "\(path)-\(attempt)")
        }
        try FileTree.write(text, to: path)
    }

    private static func number(of path: String) throws -> UInt64 {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw PosixError("stat \(path)") }
        return UInt64(facts.st_ino)
    }

    /// The sequence that deleted a user's file: the part is removed while the download runs, the file takes its inode number
    /// and the final name, and the task is removed.
    @Test(arguments: [TaskVerb.remove, .retry])
    func aForeignFileWithTheNameAndInodeNumberOfALostPartIsKept(verb: TaskVerb) async throws {
        let stalled = try await Stalled()
        let file = "\(stalled.fixture.downloads)/a"
        let part = try stalled.part
        let number = try Self.number(of: part)
        #expect(unlink(part) == 0)
        stalled.gate.open()
        let failed = try await stalled.fixture.end(of: stalled.id, in: stalled.manager)
        #expect(failed.state == .failed && failed.error?.reason == .fileMoveFailed)
        try await eventually("its descriptor is closed") { await stalled.manager.scheduler.transfers.isEmpty }
        try Self.put("mine", at: file, withNumberOf: number)
        try await stalled.apply(verb)
        if verb == .retry {
            let task = try await stalled.completes()
            #expect(task.outcome.finalPath == "\(stalled.fixture.downloads)/a (1)" || task.outcome.finalPath != file)
        }
        await stalled.manager.shutdown(.suspend)
        #expect(try FileTree.text(file) == "mine")
    }

    /// As above, after a crash between the intent's commit and the completion's.
    @Test(arguments: [TaskVerb.remove, .retry, .cancel])
    func aPublishIntentIsNotAppliedToAForeignFileWithTheInodeNumberOfALostPart(verb: TaskVerb) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version)
        var manager = try await fixture.open()
        let id = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        let directory = try DirectoryHandle(ofService: fixture.downloads)
        let (downloads, identity) = (fixture.downloads, directory.identity)
        let transfer = try await manager.store.write { tx in
            try tx.transfers.insert(
                partial: PartialLocation(directory: downloads, identity: identity), at: Clocks.wall())
        }
        let file = "\(downloads)/a"
        try FileTree.write("whole", to: file, mode: 0o600)
        let facts = try #require(try directory.facts(of: "a"))
        try await manager.store.write { tx in
            guard var task = try tx.tasks.find(id) else { return }
            task.state = .running
            task.transferID = transfer.id
            task.received = 5
            try tx.tasks.update(task)
            try tx.transfers.update(
                resumeData: ResumeData(totalLength: 5, segments: [Segment(start: 0, committed: 5)]), of: transfer.id)
            try tx.transfers.setPublishIntent(PublishIntent(finalName: "a", part: facts), of: transfer.id)
        }
        await manager.shutdown(.suspend)
        #expect(unlink(file) == 0)
        try Self.put("mine!", at: file, withNumberOf: facts.identity.inode)
        manager = try await fixture.open()
        if verb == .cancel { _ = try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller) }
        try await manager.start()
        if verb != .cancel {
            let failed = try await fixture.end(of: id, in: manager)
            #expect(failed.state == .failed && failed.error?.reason == .fileMoveFailed)
            _ = try await manager.tasks.apply(verb, to: [id], for: ManagerFixture.caller)
        }
        if verb == .retry {
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed && task.outcome.finalPath != file)
            #expect(try Self.version.equals(file: try #require(task.outcome.finalPath)))
        }
        await manager.shutdown(.suspend)
        #expect(try FileTree.text(file) == "mine!")
    }

    @Test func aPartRemovedWhileItsDownloadRunsIsFetchedAgainAutomatically() async throws {
        let stalled = try await Stalled(retries: 3)
        #expect(unlink(try stalled.part) == 0)
        stalled.gate.open()
        _ = try await stalled.completes()
        #expect(stalled.fixture.server.requests.map { $0.header("Range") } == [nil, nil])
        await stalled.manager.shutdown(.suspend)
    }

    @Test func aPartThatIsCutWhileItsDownloadRunsIsFetchedAgainAndNoZerosArePublished() async throws {
        let stalled = try await Stalled(retries: 3)
        #expect(truncate(try stalled.part, 10) == 0)
        stalled.gate.open()
        _ = try await stalled.completes()
        #expect(stalled.fixture.server.requests.map { $0.header("Range") } == [nil, nil])
        await stalled.manager.shutdown(.suspend)
    }

    enum Change: CaseIterable {
        case cut, modified, replaced, linkedFromElsewhere
    }

    @Test(arguments: Change.allCases)
    func aPartThatWasChangedWhilePausedIsFetchedAgain(change: Change) async throws {
        let stalled = try await Stalled()
        try await stalled.apply(.pause)
        try await eventually("it has stopped") { await stalled.manager.scheduler.transfers.isEmpty }
        let part = try stalled.part
        let theirs = stalled.fixture.directory.file("theirs")
        var bytes = try FileTree.read(part)
        bytes[7] ^= 1
        switch change {
        case .cut: #expect(truncate(part, 50_000) == 0)
        case .modified: try FileTree.write(bytes, to: part, mode: 0o600)
        case .replaced:
            // A file of the same user, owner and length: another one the service wrote.
            try FileTree.write(bytes, to: theirs, mode: 0o600)
            #expect(rename(theirs, part) == 0)
        case .linkedFromElsewhere:
            try FileTree.write(bytes + [1], to: theirs, mode: 0o600)
            #expect(unlink(part) == 0 && link(theirs, part) == 0)
        }
        stalled.gate.open()
        try await stalled.apply(.resume)
        _ = try await stalled.completes()
        await stalled.manager.shutdown(.suspend)
        #expect(stalled.fixture.server.requests.map { $0.header("Range") } == [nil, nil])
        if change == .linkedFromElsewhere { #expect(try FileTree.read(theirs) == bytes + [1]) }
    }

    @Test func aPartThatWasLeftAloneWhilePausedIsContinued() async throws {
        let stalled = try await Stalled()
        try await stalled.apply(.pause)
        try await eventually("it has stopped") { await stalled.manager.scheduler.transfers.isEmpty }
        stalled.gate.open()
        try await stalled.apply(.resume)
        _ = try await stalled.completes()
        await stalled.manager.shutdown(.suspend)
        #expect(stalled.fixture.server.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
    }
}
