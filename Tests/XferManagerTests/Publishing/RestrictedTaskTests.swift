import Glibc
import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// A caller that acts for an operator without its rights, such as a token of a lesser scope, is lent none of them.
@Suite(.enabled(if: geteuid() == 0, "only root can give files away")) struct RestrictedTaskTests {
    private static let version = SourceVersion.tagged(41, length: 3000)
    private static let lesser = Principal(owner: ManagerFixture.caller.owner, isOperator: false, roots: ["/"])

    private let fixture: ManagerFixture
    private let manager: TransferManager
    private let file: String

    /// There is a file of another user, which an operator may replace.
    init() async throws {
        fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version)
        manager = try await fixture.open()
        try await manager.start()
        file = "\(fixture.downloads)/theirs"
        try FileTree.write("theirs", to: file)
        try #require(chown(file, 1001, 1001) == 0)
    }

    private func isDenied(_ id: TaskID) async throws {
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed && task.error?.reason == .destinationDenied, "\(String(describing: task.error))")
        #expect(try FileTree.text(file) == "theirs")
        await manager.shutdown(.suspend)
    }

    @Test func anOperatorReplacesAnotherUsersFile() async throws {
        let id = try await fixture.add("/a", as: "theirs", to: manager) { $0.destination.onConflict = .overwrite }
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed, "\(String(describing: task.error))")
        #expect(try Self.version.equals(file: file))
        await manager.shutdown(.suspend)
    }

    @Test func aCallerThatActsForItDoesNot() async throws {
        do {
            _ = try await fixture.add("/a", as: "theirs", to: manager, for: Self.lesser) {
                $0.destination.onConflict = .overwrite
            }
            Issue.record("the add was accepted")
        } catch ManagerError.permissionDenied(let path, _) {
            #expect(path == "output")
        }
        #expect(fixture.server.requests.isEmpty)
        #expect(try FileTree.text(file) == "theirs")
        await manager.shutdown(.suspend)
    }

    @Test func aTaskThatIsSentThereByAnUpdateDoesNot() async throws {
        let id = try await fixture.add("/a", as: "mine", to: manager, startsPaused: true) {
            $0.destination.onConflict = .overwrite
        }
        _ = try await manager.tasks.update(id, .changing { $0.output = .set("theirs") }, for: Self.lesser)
        _ = try await manager.tasks.apply(.resume, to: [id], for: Self.lesser)
        try await isDenied(id)
    }

    @Test func anUpdateOfOtherFieldsTakesNoRightsAway() async throws {
        let id = try await fixture.add("/a", as: "theirs", to: manager, startsPaused: true) {
            $0.destination.onConflict = .overwrite
        }
        let changed = try await manager.tasks.update(id, .changing { $0.label = .set("a") }, for: Self.lesser)
        #expect(!changed.specification.isRestricted)
        let moved = try await manager.tasks.setSource(of: id, to: fixture.server.url("/b"), for: Self.lesser)
        #expect(moved.specification.isRestricted)
        await manager.shutdown(.suspend)
    }
}
