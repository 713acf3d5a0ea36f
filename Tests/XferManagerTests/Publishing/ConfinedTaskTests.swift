import Glibc
import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// A caller on the network without the scope `operate` writes beneath the directory for downloads only.
@Suite(.enabled(if: geteuid() == 0, "the caller's user is root"))
struct ConfinedTaskTests {
    private static let version = SourceVersion.tagged(43, length: 3000)
    /// A token's caller: an operator's user, without its rights.
    private static let token: Principal = {
        var principal = Principal(owner: ManagerFixture.caller.owner, isOperator: false, roots: ["/"])
        principal.confinement = .downloads
        return principal
    }()

    private let fixture: ManagerFixture
    private let manager: TransferManager
    private let outside: String

    init() async throws {
        fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version)
        outside = try fixture.directory.makeDirectory("outside")
        manager = try await fixture.open()
        try await manager.start()
    }

    private func add(
        as name: String, in directory: String? = nil, startsPaused: Bool = false,
        onConflict: ConflictPolicy = .rename, for caller: Principal = token
    ) async throws -> TaskID {
        try await fixture.add("/a", as: name, to: manager, startsPaused: startsPaused, for: caller) {
            if let directory { $0.destination.directory = directory }
            $0.destination.onConflict = onConflict
        }
    }

    /// The field for which the call is refused; nil if it is not.
    private func refusedField(_ call: () async throws -> Void) async throws -> String? {
        do {
            try await call()
            return nil
        } catch ManagerError.permissionDenied(let path, _) {
            return path
        }
    }

    @Test func itAddsNothingOutsideOrUnderAHiddenName() async throws {
        try #require(symlink(outside, "\(fixture.downloads)/link") == 0)
        for directory in [outside, "\(fixture.downloads)/link", "\(fixture.downloads)/../outside"] {
            let field = try await refusedField { _ = try await add(as: "a", in: directory) }
            #expect(field == "dir", "\(directory)")
        }
        #expect(try await refusedField { _ = try await add(as: "a", in: "\(fixture.downloads)/.ssh") } == "dir")
        #expect(try await refusedField { _ = try await add(as: ".bashrc") } == "output")
        #expect(try fixture.files() == ["link"])
        await manager.shutdown(.suspend)
    }

    @Test func itReplacesWhatATokenPublishedAndNothingElse() async throws {
        let path = "\(fixture.downloads)/mine"
        let first = try await fixture.end(of: add(as: "mine"), in: manager)
        #expect(first.state == .completed, "\(String(describing: first.error))")
        let second = try await fixture.end(of: add(as: "mine", onConflict: .overwrite), in: manager)
        #expect(second.state == .completed && second.outcome.finalPath == path, "\(String(describing: second.error))")
        // The same user's file, whether a task or a program put it there.
        let local = try await fixture.end(of: add(as: "local", for: ManagerFixture.caller), in: manager)
        #expect(local.state == .completed)
        try FileTree.write("theirs", to: "\(fixture.downloads)/theirs")
        let requests = fixture.server.requests.count
        for (name, policy) in [("local", ConflictPolicy.overwrite), ("theirs", .overwrite), ("theirs", .update)] {
            let field = try await refusedField { _ = try await add(as: name, onConflict: policy) }
            #expect(field == "output", "\(name) \(policy)")
        }
        #expect(fixture.server.requests.count == requests, "nothing is fetched before the refusal")
        #expect(try FileTree.text("\(fixture.downloads)/theirs") == "theirs")
        // A file that was changed since is not the one that was published.
        try FileTree.write("changed", to: path)
        #expect(try await refusedField { _ = try await add(as: "mine", onConflict: .overwrite) } == "output")
        await manager.shutdown(.suspend)
    }

    /// The add found no file, so that only the end of the download can refuse.
    @Test func aFileThatAppearsAfterTheAddIsNotReplaced() async throws {
        let id = try await add(as: "late", startsPaused: true, onConflict: .overwrite)
        try FileTree.write("theirs", to: "\(fixture.downloads)/late")
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        let denied = try await fixture.end(of: id, in: manager)
        #expect(denied.state == .failed && denied.error?.reason == .destinationDenied)
        #expect(try FileTree.text("\(fixture.downloads)/late") == "theirs")
        await manager.shutdown(.suspend)
    }

    @Test func itDecidesNothingOfATaskThatWritesElsewhere() async throws {
        let digest = try #require(Checksum(algorithm: .sha256, bytes: [UInt8](repeating: 0, count: 32)))
        let id = try await add(as: "a", in: outside, startsPaused: true, for: ManagerFixture.caller)
        let url = fixture.server.url("/b")
        #expect(
            try await refusedField { _ = try await manager.tasks.setSource(of: id, to: url, for: Self.token) } != nil)
        let changes: [TaskChanges] = [
            .changing { $0.headers = HeaderList([HeaderField(name: "X-A", value: "b")]) },
            .changing { $0.destination.onConflict = .set(.overwrite) },
            .changing { $0.output = .set("b") },
            .changing { $0.checksum = .set(digest) },
        ]
        for changes in changes {
            let field = try await refusedField { _ = try await manager.tasks.update(id, changes, for: Self.token) }
            #expect(field != nil, "\(changes)")
        }
        let labelled = try await manager.tasks.update(id, .changing { $0.label = .set("l") }, for: Self.token)
        #expect(labelled.specification.label == "l" && labelled.specification.destination.confinement == nil)
        await manager.shutdown(.suspend)
    }

    @Test func whatItChangesIsConfinedFromThenOnUntilALocalCallerNamesThePlace() async throws {
        let id = try await add(as: "a", startsPaused: true, for: ManagerFixture.caller)
        let changed = try await manager.tasks.setSource(of: id, to: fixture.server.url("/b"), for: Self.token)
        #expect(changed.specification.destination.confinement == Confinement(directory: fixture.downloads))
        let renamed = TaskChanges.changing { $0.output = .set("b") }
        #expect(
            try await refusedField {
                _ = try await manager.tasks.update(id, .changing { $0.output = .set(".b") }, for: Self.token)
            } == "changes.output")
        let local = try await manager.tasks.update(id, renamed, for: ManagerFixture.caller)
        #expect(local.specification.destination.confinement == nil)
        await manager.shutdown(.suspend)
    }

    @Test func aDirectoryThatLeadsOutWhenTheTaskRunsIsRefused() async throws {
        let directory = try fixture.directory.makeDirectory("downloads/sub")
        let id = try await add(as: "a", in: directory, startsPaused: true)
        try #require(rename(directory, "\(outside)/sub") == 0)
        try #require(symlink("\(outside)/sub", directory) == 0)
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed && task.error?.reason == .destinationDenied, "\(String(describing: task.error))")
        #expect(try FileTree.entries(below: "\(outside)/sub").isEmpty)
        await manager.shutdown(.suspend)
    }
}
