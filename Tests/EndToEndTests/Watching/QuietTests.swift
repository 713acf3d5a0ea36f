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
        }
    }

    @Test(arguments: [
        ["add", "-q", "--json", "URL/a"], ["add", "-qw", "--json", "URL/a"], ["wait", "-q", "--json", "1"],
        ["wait", "-q", "--json", "--all"], ["verify", "-q", "--json", "1"],
        ["batch", "add", "-q", "--json", "-i", "LIST"], ["batch", "add", "-qw", "--json", "-i", "LIST"],
    ]) func quietLeavesTheDocumentThatWasRequested(arguments: [String]) async throws {
        let server = try await FaultServer()
        server.serve("/a", .tagged(1, length: 5_000))
        try await withDaemon { daemon in
            #expect(try await daemon.ctl("add", "-qw", server.url("/a")).isSuccess)
            let list = "\(daemon.downloads)/list"
            try FileTree.write(server.url("/a") + "\n", to: list)
            let result = try await daemon.ctl(
                arguments.map { $0.replacing("URL", with: server.url("")).replacing("LIST", with: list) })
            #expect(result.isSuccess && result.errors.isEmpty, "\(result)")
            let document = try JSONValue(parsing: Array(result.output.utf8))
            #expect(document.objectValue != nil, "\(result)")
        }
    }
}
