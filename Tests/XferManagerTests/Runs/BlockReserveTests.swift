import Glibc
import Testing
import XferFiles
import XferModel
import XferTestSupport

@testable import XferManager

/// Disk blocks of what is still to come.
struct BlockReserveTests {
    private static let length: Int64 = 12 << 20

    /// Whether files of tests lie where blocks are reserved.
    static let isUseful: Bool = {
        guard let place = try? TemporaryDirectory("xfer-reserve"),
            let directory = try? DirectoryHandle(ofService: place.path),
            let part = try? PartialFile.create(in: directory, named: "part")
        else { return false }
        return part.preallocate(upTo: 1 << 20)
    }()

    @Test(.enabled(if: isUseful, "the file system of temporary files reserves no blocks"))
    func aLargeFileIsPreallocatedAndAPausedOneKeepsOnlyItsBlocks() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", .tagged(1, length: Self.length)).next([.stall(at: 100_000, until: gate)])
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("blocks are reserved") { try self.blocks(fixture) >= Self.length }
        _ = try await manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
        try await eventually("they are given back") { try self.blocks(fixture) < 1 << 20 }
        gate.open()
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(FileTree.size("\(fixture.downloads)/a") == Self.length)
        await manager.shutdown(.suspend)
    }

    /// Bytes of disk that the partial file takes.
    private func blocks(_ fixture: ManagerFixture) throws -> Int64 {
        guard let part = try FileTree.names(in: fixture.downloads).first(where: { $0.hasSuffix(".part") }) else {
            return 0
        }
        var facts = stat()
        guard stat("\(fixture.downloads)/\(part)", &facts) == 0 else { return 0 }
        return Int64(facts.st_blocks) * 512
    }
}
