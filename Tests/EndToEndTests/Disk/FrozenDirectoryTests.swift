import StrictJSON
import Testing
import XferTestSupport

/// A directory that takes no new names once the bytes are there: the file cannot be moved, and nothing of it is lost.
@Suite(.enabled(if: FrozenDirectory.isPossible, "needs directories that can be frozen: chattr(1), or not to be root"))
struct FrozenDirectoryTests {
    @Test(arguments: ["rename", "overwrite"])
    func aDownloadIntoAFrozenDirectoryKeepsItsBytesAndIsMovedLater(onConflict: String) async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(180, length: 300_000)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 299_999, until: gate)]])
        try await withTask(server.url("/f"), ["on_conflict": .string(onConflict)]) { daemon, id in
            try await daemon.waitForBytes(299_999, of: id)
            let frozen = try FrozenDirectory(daemon.downloads)
            gate.open()
            let view = try await daemon.fails(id, "file_move_failed")
            #expect(view.errorMessage.contains("\(daemon.downloads)/f"), "\(view.errorMessage)")
            #expect(try daemon.downloaded.filter { $0.hasSuffix(".part") }.count == 1)
            #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)

            try frozen.thaw()
            _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["f"])
            #expect(server.requests.count == 1, "everything was there already")
        }
    }
}
