import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Another program removes the partial file of a running download.
struct RemovedPartTests {
    @Test(arguments: ["rename", "overwrite"], [0, 3])
    func aPartFileRemovedDuringADownloadIsFetchedAgainWithOneRetry(onConflict: String, retries: Int64) async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(230, length: 300_000)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 299_999, until: gate)]])
        let params: JSONObject = ["on_conflict": .string(onConflict), "max_retries": .integer(retries)]
        try await withTask(server.url("/f"), params) { daemon, id in
            try await daemon.waitForBytes(299_999, of: id)
            let part = try #require(try daemon.downloaded.first { $0.hasSuffix(".part") })
            try #require(unlink("\(daemon.downloads)/\(part)") == 0)
            gate.open()
            // The service makes the retry by itself where it may.
            if retries == 0 {
                _ = try await daemon.fails(id, "file_move_failed")
                _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            }
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["f"])
        }
    }
}
