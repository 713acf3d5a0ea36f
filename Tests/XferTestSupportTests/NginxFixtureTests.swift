import Testing
import XferTestSupport

@Suite(.enabled(if: NginxFixture.isInstalled, "needs nginx-light")) struct NginxFixtureTests {
    @Test func nginxServesOverHTTPAndHTTP2() async throws {
        let ca = try TestCA()
        let leaf = try ca.issue()
        var options = NginxFixture.Options()
        options.tls = (ca.chain(for: leaf), leaf.privateKey)
        options.directives = "location /moved { return 302 /file; }"
        let nginx = try await NginxFixture(options)
        let source = SourceVersion.tagged(5, length: 3_000_000)
        try nginx.publish(source, as: "file")
        #expect(try source.equals(file: "\(nginx.root)/file"))

        let scratch = try TemporaryDirectory()
        try FileTree.write(ca.pem, to: scratch.file("ca"))
        let openssl = try #require(Command.find("openssl"))
        let arguments = ["s_client", "-connect", "127.0.0.1:\(nginx.httpsPort)", "-alpn", "h2", "-verify_return_error"]
        let answer = try await Command.run(openssl, arguments + ["-CAfile", scratch.file("ca")])
        #expect(answer.description.contains("ALPN protocol: h2"))
        #expect(answer.description.contains("Verify return code: 0 (ok)"))

        let client = try RawClient(port: nginx.httpPort)
        try client.get("/file", "Range: bytes=1000000-1000009", "Connection: close")
        _ = try client.readHead()
        #expect(try client.read().bytes == source.bytes(1_000_000..<1_000_010))
        try await eventually("logged") { try nginx.log.contains { $0.target == "/file" && $0.bodyBytes == 10 } }
        let line = try #require(try nginx.log.first { $0.target == "/file" })
        #expect(line.status == 206 && line.range == "bytes=1000000-1000009")
    }
}
