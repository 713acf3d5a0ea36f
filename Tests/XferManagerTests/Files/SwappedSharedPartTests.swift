import Glibc
import Testing
import XferFiles
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// With `sharing.between_owners` the bytes of several users lie in the directory of one of them, who can put another file
/// under their name.
@Suite struct SwappedSharedPartTests {
    private static let version = SourceVersion.tagged(34, length: 300_000)

    @Test(arguments: [false, true])
    func aSharedPartSwappedByItsDirectorysOwnerCorruptsNoOtherFile(isPaused: Bool) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.version).next([.stall(at: 100_000, until: gate)])
        let manager = try await fixture.open(change: { $0.sharesBetweenOwners = true })
        try await manager.start()
        let bob = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let home = try fixture.directory.makeDirectory("bob")
        chmod(home, 0o777)
        let his = try await fixture.add("/a", as: "a", to: manager, for: bob) { $0.destination.directory = home }
        try await eventually("bytes have come") {
            await manager.queries.progress(of: [his])[his]?.received ?? 0 >= 100_000
        }
        let hers = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("she has joined") {
            await manager.queries.progress(of: [hers])[hers]?.received ?? 0 >= 100_000
        }
        if isPaused {
            _ = try await manager.tasks.apply(.pause, to: [his, hers], for: ManagerFixture.caller)
            try await eventually("it has stopped") { await manager.scheduler.transfers.isEmpty }
        }
        let name = try #require(try FileTree.names(in: home).first { $0.hasSuffix(".part") })
        // A file the service published for him: of its owner, and with the content he wished for.
        var bytes = try FileTree.read("\(home)/\(name)")
        for index in bytes.indices { bytes[index] ^= 0xff }
        try FileTree.write(bytes, to: "\(home)/his", mode: 0o600)
        #expect(rename("\(home)/his", "\(home)/\(name)") == 0)
        gate.open()
        if isPaused {
            _ = try await manager.tasks.apply(.resume, to: [hers, his], for: ManagerFixture.caller)
        }
        for id in [hers, his] {
            let task = try await fixture.end(of: id, in: manager)
            guard task.state == .completed else {
                Issue.record("\(task.state): \(String(describing: task.error))")
                continue
            }
            #expect(try Self.version.equals(file: try #require(task.outcome.finalPath)))
        }
        await manager.shutdown(.suspend)
    }

    /// The directory's owner closes it or replaces it by a link: the other user's task continues in its own directory.
    @Test(arguments: [false, true])
    func aDirectoryRemovedByItsOwnerFailsNoOtherUsersTask(isLink: Bool) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.version).next([.stall(at: 100_000, until: gate)])
        let manager = try await fixture.open(change: { $0.sharesBetweenOwners = true })
        try await manager.start()
        let bob = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let home = try fixture.directory.makeDirectory("bob")
        chmod(home, 0o777)
        let his = try await fixture.add("/a", as: "a", to: manager, for: bob) { $0.destination.directory = home }
        let hers = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("both have bytes") {
            await manager.queries.progress(of: [his, hers]).values.count { $0.received >= 100_000 } == 2
        }
        _ = try await manager.tasks.apply(.pause, to: [his, hers], for: ManagerFixture.caller)
        try await eventually("it has stopped") { await manager.scheduler.transfers.isEmpty }
        if isLink {
            #expect(rename(home, home + "-moved") == 0 && symlink(fixture.downloads, home) == 0)
        } else {
            chmod(home, 0o700)
        }
        gate.open()
        _ = try await manager.tasks.apply(.resume, to: [hers], for: ManagerFixture.caller)
        let task = try await fixture.end(of: hers, in: manager)
        #expect(task.state == .completed, "\(String(describing: task.error))")
        #expect(try Self.version.equals(file: try #require(task.outcome.finalPath)))
        await manager.shutdown(.suspend)
    }
}
