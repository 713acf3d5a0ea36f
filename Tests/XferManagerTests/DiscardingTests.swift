import Testing
import XferFiles
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Bytes nobody wants are deleted beside everything else, and keep no daemon from stopping.
struct DiscardingTests {
    @Test func aShutdownDoesNotWaitForDeletionsAndTheNextStartGoesOn() async throws {
        let fixture = try await ManagerFixture()
        let count = 3000
        let first = try await fixture.open()
        let downloads = fixture.downloads
        let identity = try DirectoryHandle(ofService: downloads).identity
        let now = Clocks.wall()
        let names = try await first.store.write { tx in
            try (0..<count).map { _ in
                try tx.insertTransfer(partial: PartialLocation(directory: downloads, identity: identity), at: now)
                    .partialName
            }
        }
        for name in names { try FileTree.write("bytes", to: "\(downloads)/\(name)", mode: 0o600) }
        try await first.start()
        try await eventually("deleting has begun") { try fixture.files().count < count }
        await first.shutdown(.suspend)
        #expect(try !fixture.files().isEmpty, "the shutdown waited for all of them")

        let second = try await fixture.open()
        try await second.start()
        try await eventually("all are deleted") { try fixture.files().isEmpty }
        await second.shutdown(.suspend)
    }
}
