import NIOConcurrencyHelpers
import Testing
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// A certificate authority that is removed from the authorities' file.
@Suite struct AuthoritiesTests {
    private static let version = SourceVersion.tagged(9, length: 200_000)

    private let fixture: ManagerFixture
    private let authority: TestCA
    private let other: TestCA
    private let server: TLSServer

    init() async throws {
        fixture = try await ManagerFixture()
        authority = try TestCA()
        other = try TestCA(name: "another authority")
        let leaf = try authority.issue()
        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.backend = fixture.server.port
        server = try TLSServer(options)
        try write(authority.pem + other.pem)
    }

    private var file: String { fixture.directory.file("ca.pem") }

    private func write(_ bundle: String) throws { try FileTree.write(bundle, to: file) }

    private func open(starts: Bool = true) async throws -> TransferManager {
        let manager = try await fixture.open(change: { [file] in $0.authoritiesFile = file })
        if starts { try await manager.start() }
        return manager
    }

    private func add(to manager: TransferManager, isStaged: Bool = false) async throws -> TaskID {
        try await fixture.add(url: "https://localhost:\(server.port)/a", as: "a", to: manager) {
            if isStaged { $0.completion.finalize = .manual }
        }
    }

    private func half(of id: TaskID, in manager: TransferManager) async throws {
        try await eventually("half of it is there") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
    }

    @Test func aReloadStopsRunsThatUseARemovedAuthority() async throws {
        fixture.server.serve("/a", Self.version, faults: [[.hang(after: 100_000)]])
        let manager = try await open()
        let id = try await add(to: manager)
        try await half(of: id, in: manager)
        try write(other.pem)
        try await manager.reload(manager.settings)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed && task.error?.reason == .trustRejected)
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func aReloadKeepsRunsWhoseAuthorityRemains() async throws {
        fixture.server.serve("/a", Self.version, faults: [[.hang(after: 100_000)]])
        let manager = try await open()
        let id = try await add(to: manager)
        try await half(of: id, in: manager)
        try write(authority.pem)
        try await manager.reload(manager.settings)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed)
        #expect(fixture.server.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
        #expect(try Self.version.equals(file: "\(fixture.downloads)/a"))
        await manager.shutdown(.suspend)
    }

    @Test func anUnreadableAuthorityFileChangesNothing() async throws {
        let gate = Gate()
        fixture.server.serve("/a", Self.version, faults: [[.stall(at: 100_000, until: gate)]])
        let manager = try await open()
        let id = try await add(to: manager)
        try await half(of: id, in: manager)
        try write("no certificates")
        try await manager.reload(manager.settings)
        gate.open()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    /// - Parameter isKilled: the service could not write down who sent the bytes.
    @Test(arguments: [false, true]) func bytesOverAnAuthorityRemovedWhileStoppedAreNotContinued(
        isKilled: Bool
    ) async throws {
        fixture.server.serve("/a", Self.version, faults: [[.hang(after: 100_000)]])
        var manager = try await open()
        let id = try await add(to: manager)
        try await half(of: id, in: manager)
        await manager.shutdown(.suspend)
        manager = try await open(starts: false)
        let transferID = try #require(try await manager.store.read { try $0.tasks.find(id)?.transferID })
        if isKilled { try await manager.store.write { try $0.transfers.setSources([], of: transferID) } }
        await manager.shutdown(.suspend)
        try write(other.pem)
        manager = try await open()
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed && task.error?.reason == .trustRejected)
        #expect(fixture.server.requests.count == 1)
        let kept = try await manager.store.read { try $0.transfers.find(transferID) }
        #expect(kept?.resumeData.committedByteCount ?? 0 == 0)
        await manager.shutdown(.suspend)
    }

    @Test func stagedBytesOverARemovedAuthorityAreNeitherReadNorPublished() async throws {
        fixture.server.serve("/a", Self.version)
        let manager = try await open()
        let id = try await add(to: manager, isStaged: true)
        try await eventually("it is staged") {
            try await manager.store.read { try $0.tasks.find(id)?.state } == .staged
        }
        let page = try await manager.bytes.read(id, offset: 0, length: 100, for: ManagerFixture.caller)
        #expect(page.bytes.count == 100)
        try write(other.pem)
        try await manager.reload(manager.settings)
        let error = await #expect(throws: ManagerError.self) {
            try await manager.bytes.read(id, offset: 0, length: 100, for: ManagerFixture.caller)
        }
        guard case .noBytes = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try fixture.files().contains("a") == false)
        try write(authority.pem)
        try await manager.reload(manager.settings)
        #expect(try await manager.bytes.read(id, offset: 0, length: 100, for: ManagerFixture.caller).bytes.count == 100)
        await manager.shutdown(.suspend)
    }
}
