import StrictJSON
import Testing
import XferTestSupport

/// `--quiet`: a script looks at the exit status, and a person only at what failed.
@Suite struct QuietTests {
    @Test func quietAddsPrintNothingUnlessTheyFail() async throws {
        let server = try await FaultServer()
        server.serve("/a", .tagged(1, length: 5_000))
        server.on("/j") { _ in Reply(200, text: "plain words") }
        try await withDaemon { daemon in
            let added = try await daemon.ctl("add", "-q", "-o", "a", server.url("/a"))
            #expect(added.isSuccess && added.output.isEmpty && added.errors.isEmpty, "\(added)")
            let waited = try await daemon.ctl("wait", "--quiet", "1")
            #expect(waited.isSuccess && waited.output.isEmpty && waited.errors.isEmpty, "\(waited)")
            let body = try await daemon.ctl("add", "-qw", "--kind", "data", server.url("/j"))
            #expect(body.isSuccess && body.output == "plain words" && body.errors.isEmpty, "\(body)")
            let failed = try await daemon.ctl("add", "-qw", server.url("/missing"))
            #expect(failed.exit == .code(1) && failed.output.isEmpty, "\(failed)")
            #expect(failed.errors.contains("answered 404 (Not Found)"), "\(failed)")
            let both = try await daemon.ctl("wait", "-q", "--json", "1")
            #expect(both.exit == .code(2) && both.errors.contains("--json and --quiet exclude each other"), "\(both)")
        }
    }
}
