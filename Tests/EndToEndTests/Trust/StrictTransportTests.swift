import StrictJSON
import Testing
import XferTestSupport

/// Hosts that demand https (RFC 6797), with the real daemon and command line.
@Suite struct StrictTransportTests {
    @Test func aDemandSurvivesARestartAndIsListedAndCleared() async throws {
        let files = try TemporaryDirectory("xfer-hsts")
        let authority = try TestCA()
        try FileTree.write(authority.pem, to: files.file("ca.pem"))
        let leaf = try authority.issue()
        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.headers = "Content-Length: 6\r\nStrict-Transport-Security: max-age=100000; includeSubDomains\r\n"
        let server = try TLSServer(options)
        let settings = ["trust": ["ca_file": "\"\(files.file("ca.pem"))\""]]
        try await withDaemon(DaemonFixture.Options(settings: settings)) { daemon in
            let first = try await daemon.add("https://localhost:\(server.port)/a")
            try await daemon.wait(first, for: "completed")
            try await daemon.stop()
            try await daemon.start()
            let listed = try await daemon.ctl("hsts")
            #expect(listed.isSuccess, "\(listed)")
            #expect(listed.output.contains("localhost") && listed.output.contains("yes"), "\(listed)")

            let second = try await daemon.add("http://localhost:\(server.port)/b")
            let task = try await daemon.wait(second, for: "completed")
            #expect(task["final_url"]?.stringValue == "https://localhost:\(server.port)/b", "\(task.text)")
            let event = try #require(try await daemon.events(of: second, types: "task.redirected").first)
            #expect(event["decision"]?.stringValue == "upgraded", "\(event.text)")

            let cleared = try await daemon.ctl("hsts", "clear", "LOCALHOST")
            #expect(cleared.isSuccess && cleared.output.contains("localhost: cleared"), "\(cleared)")
            let again = try await daemon.call("hsts.clear", ["hosts": ["Localhost"]])
            #expect(again == ["removed": [], "missing": ["Localhost"]])
            try await daemon.stop()
            try await daemon.start()
            #expect(try await daemon.call("hsts.list")["hosts"] == [])
        }
    }
}
