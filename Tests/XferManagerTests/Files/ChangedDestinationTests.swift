import Glibc
import Testing
import XferFiles
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// A task is completed only when its file is found under its path.
@Suite struct ChangedDestinationTests {
    private static let version = SourceVersion.tagged(32, length: 300_000)

    enum Change: CaseIterable {
        case moved, replacedByADirectory, replacedByALink
    }

    @Test(arguments: Change.allCases, [false, true])
    func aDirectoryReplacedBeforePublishingFailsTheTaskAndKeepsItsBytes(
        change: Change, isStaged: Bool
    ) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.version).next([.stall(at: 100_000, until: gate)])
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) {
            if isStaged { $0.completion.finalize = .manual }
        }
        try await eventually("bytes have come") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        if isStaged {
            gate.open()
            try await eventually("it is staged") {
                try await manager.queries.task(id, for: ManagerFixture.caller).state == .staged
            }
        }
        let (path, moved) = (fixture.downloads, fixture.directory.file("moved"))
        #expect(rename(path, moved) == 0)
        switch change {
        case .moved: break
        case .replacedByADirectory: #expect(mkdir(path, 0o700) == 0)
        case .replacedByALink:
            let elsewhere = try fixture.directory.makeDirectory("elsewhere")
            #expect(symlink(elsewhere, path) == 0)
        }
        if isStaged {
            await #expect(throws: ManagerError.self) {
                _ = try await manager.staging.commit([id], for: ManagerFixture.caller)
            }
        } else {
            gate.open()
            let failed = try await fixture.end(of: id, in: manager)
            #expect(failed.state == .failed && failed.error?.reason == .destinationChanged, "\(failed)")
        }
        #expect(try FileTree.names(in: moved).map { $0.hasSuffix(".part") } == [true])

        // It is back: nothing has to be fetched.
        if change != .moved { #expect(change == .replacedByALink ? unlink(path) == 0 : rmdir(path) == 0) }
        #expect(rename(moved, path) == 0)
        if isStaged {
            _ = try await manager.staging.commit([id], for: ManagerFixture.caller)
        } else {
            _ = try await manager.tasks.apply(.retry, to: [id], for: ManagerFixture.caller)
        }
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed, "\(String(describing: task.error))")
        #expect(try Self.version.equals(file: "\(path)/a"))
        #expect(try fixture.files() == ["a"])
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.suspend)
    }
}
