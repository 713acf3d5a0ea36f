import Glibc
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

/// A file that has the name already, and a task that demands a digest.
@Suite struct ExistingFileTests {
    private static let source = SourceVersion.tagged(1, length: 3000)

    private func open() async throws -> (ManagerFixture, TransferManager) {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.source)
        let manager = try await fixture.open()
        try await manager.start()
        return (fixture, manager)
    }

    private func add(
        _ fixture: ManagerFixture, _ manager: TransferManager, _ policy: ConflictPolicy,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        try await fixture.add("/a", as: "a", to: manager) { specification in
            specification.destination.onConflict = policy
            specification.checksum = Self.source.checksum()
            change(&specification)
        }
    }

    @Test func aFileWithTheDemandedDigestIsSkippedWithoutARequest() async throws {
        let (fixture, manager) = try await open()
        try Self.source.write(to: fixture.downloads + "/a")
        let task = try await fixture.end(of: try await add(fixture, manager, .skip), in: manager)
        #expect(task.state == .completed && task.outcome.skipped)
        #expect(fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    /// The response could give another name; the bytes would be the same.
    @Test(arguments: [ConflictPolicy.skip, .verify])
    func aFileWithTheURLsOwnNameAndTheDemandedDigestCostsNoRequest(_ policy: ConflictPolicy) async throws {
        let (fixture, manager) = try await open()
        try Self.source.write(to: fixture.downloads + "/a")
        let id = try await add(fixture, manager, policy) { $0.destination.name = nil }
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed && task.outcome.skipped)
        #expect(task.outcome.finalPath == fixture.downloads + "/a")
        #expect(fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [ConflictPolicy.skip, .verify])
    func aWrongFileWithTheURLsOwnNameDecidesNothingIfTheResponseGivesAnotherName(_ policy: ConflictPolicy) async throws
    {
        let (fixture, manager) = try await open()
        fixture.server.serve("/a", Self.source)
            .always(.header("Content-Disposition", #"attachment; filename="other""#))
        try FileTree.write("corrupt", to: fixture.downloads + "/a")
        let id = try await add(fixture, manager, policy) { $0.destination.name = nil }
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed && !task.outcome.skipped)
        #expect(try FileTree.text(fixture.downloads + "/a") == "corrupt")
        #expect(try Self.source.equals(file: fixture.downloads + "/other"))
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [false, true]) func aFileWithAnotherDigestFailsASkippingTaskAndIsKept(comesLate: Bool) async throws
    {
        let (fixture, manager) = try await open()
        let gate = Gate()
        let path = fixture.downloads + "/a"
        if comesLate {
            fixture.server.serve("/a", Self.source).always(.stall(at: 1000, until: gate))
        } else {
            try FileTree.write("corrupt", to: path)
        }
        let id = try await add(fixture, manager, .skip)
        if comesLate {
            try await eventually("it is asked for") { fixture.server.requests.count == 1 }
            try FileTree.write("corrupt", to: path)
            gate.open()
        }
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed && task.error?.reason == .destinationExists)
        let message = task.error?.message ?? ""
        #expect(message.contains(path) && message.contains(Self.source.checksum().description), "\(message)")
        #expect(try FileTree.text(path) == "corrupt")
        #expect(fixture.server.requests.count == (comesLate ? 1 : 0))
        // The URL is not at fault.
        let again = try await fixture.add("/a", as: "b", to: manager)
        #expect(try await fixture.end(of: again, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aVerifyingTaskFetchesAFileAgainOnlyIfItsDigestDiffers() async throws {
        let (fixture, manager) = try await open()
        let path = fixture.downloads + "/a"
        try Self.source.write(to: path)
        let right = try await fixture.end(of: try await add(fixture, manager, .verify), in: manager)
        #expect(right.state == .completed && right.outcome.skipped && fixture.server.requests.isEmpty)
        try FileTree.write("corrupt", to: path)
        let mended = try await fixture.end(of: try await add(fixture, manager, .verify), in: manager)
        #expect(mended.state == .completed && !mended.outcome.skipped)
        #expect(try Self.source.equals(file: path))
        #expect(fixture.server.requests.map(\.status) == [200])
        await manager.shutdown(.suspend)
    }

    @Test func aVerifyingTaskWithoutAChecksumAsksWhetherTheFileIsCurrent() async throws {
        let (fixture, manager) = try await open()
        for isSecond in [false, true] {
            let id = try await add(fixture, manager, .verify) { $0.checksum = nil }
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed && task.outcome.notModified == isSecond)
        }
        #expect(fixture.server.requests.map(\.status) == [200, 304])
        await manager.shutdown(.suspend)
    }

    @Test func aSymbolicLinkIsNoFileWithTheDemandedDigest() async throws {
        let (fixture, manager) = try await open()
        try Self.source.write(to: fixture.downloads + "/real")
        #expect(symlink("real", fixture.downloads + "/a") == 0)
        let task = try await fixture.end(of: try await add(fixture, manager, .skip), in: manager)
        #expect(task.error?.reason == .destinationExists)
        await manager.shutdown(.suspend)
    }

    /// The server would answer that nothing is newer.
    @Test func anUpdateReplacesACorruptFileHoweverNewItIs() async throws {
        let (fixture, manager) = try await open()
        let first = try await fixture.end(of: try await add(fixture, manager, .update), in: manager)
        #expect(first.state == .completed)
        let again = try await fixture.end(of: try await add(fixture, manager, .update), in: manager)
        #expect(again.outcome.notModified)
        try FileTree.write("corrupt", to: fixture.downloads + "/a")
        let mended = try await fixture.end(of: try await add(fixture, manager, .update), in: manager)
        #expect(mended.state == .completed && !mended.outcome.notModified)
        #expect(try Self.source.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.map(\.status) == [200, 304, 200])
        await manager.shutdown(.suspend)
    }

    @Test func aStagedTaskIsNotCommittedBesideAFileWithAnotherDigest() async throws {
        let (fixture, manager) = try await open()
        let id = try await add(fixture, manager, .skip) { $0.completion.finalize = .manual }
        #expect(try await fixture.end(of: id, in: manager).state == .staged)
        try FileTree.write("corrupt", to: fixture.downloads + "/a")
        await #expect(throws: ManagerError.self) {
            _ = try await manager.staging.commit([id], for: ManagerFixture.caller)
        }
        #expect(try await manager.queries.task(id, for: ManagerFixture.caller).state == .staged)
        #expect(try FileTree.text(fixture.downloads + "/a") == "corrupt")
        try Self.source.write(to: fixture.downloads + "/a")
        _ = try await manager.staging.commit([id], for: ManagerFixture.caller)
        let task = try await manager.queries.task(id, for: ManagerFixture.caller)
        #expect(task.state == .completed && task.outcome.skipped)
        await manager.shutdown(.suspend)
    }

    @Test func aCommitByFilterCountsWhatItPublishedAndNamesWhatIsRefused() async throws {
        let (fixture, manager) = try await open()
        let blocked = try await add(fixture, manager, .skip) { $0.completion.finalize = .manual }
        let other = try await fixture.add("/a", as: "b", to: manager) { $0.completion.finalize = .manual }
        for id in [blocked, other] { #expect(try await fixture.end(of: id, in: manager).state == .staged) }
        try FileTree.write("corrupt", to: fixture.downloads + "/a")
        let counts = try await manager.staging.commit(TaskQuery(states: [.staged]), for: ManagerFixture.caller)
        #expect(counts.changedCount == 1 && counts.unchangedCount == 0 && counts.refusedCount == 1)
        #expect(counts.refused?.map(\.id) == [blocked])
        #expect(counts.refused?.first?.message.contains("stays staged") == true)
        #expect(try await manager.queries.task(other, for: ManagerFixture.caller).state == .completed)
        await manager.shutdown(.suspend)
    }
}
