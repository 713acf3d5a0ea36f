import Testing

@testable import XferClient

@Suite struct ServerAddressTests {
    @Test(
        arguments: [
            ("https://xfer.example:6801", "xfer.example", 6801, true),
            ("https://xfer.example/", "xfer.example", 443, true),
            ("HTTPS://[2001:db8::1]:7", "2001:db8::1", 7, true), ("http://127.0.0.1:6800", "127.0.0.1", 6800, false),
            ("http://localhost", "localhost", 80, false), ("http://[::1]:6800/", "::1", 6800, false),
        ])
    func aURLNamesHostAndPort(url: String, host: String, port: Int, isEncrypted: Bool) throws {
        let server = try ServerAddress(url, token: " xfer_00ff\n")
        #expect(server.host == host && server.port == port && server.isEncrypted == isEncrypted)
        #expect(server.token == "xfer_00ff")
    }

    @Test(
        arguments: [
            "", "xfer.example", "ftp://xfer.example", "https://", "https://:1", "https://a:0", "https://a:65536",
            "https://a:1/path", "https://a@b", "https://a b", "https://[::1", "https://a:1\r\nX: y",
        ])
    func anythingElseIsRefused(url: String) {
        #expect(throws: ServerAddress.Fault.url(url)) { try ServerAddress(url, token: "t") }
    }

    @Test(arguments: ["xfer.example", "10.0.0.1", "127.0.0.1.example", "127.0.0", "::2"])
    func aTokenIsNotSentInTheClearToAnotherMachine(host: String) {
        let url = "http://\(host.contains(":") ? "[\(host)]" : host):6800"
        #expect(throws: ServerAddress.Fault.unencrypted(host: host)) { try ServerAddress(url, token: "t") }
    }

    @Test(arguments: ["", " \n", "two words", "a\nb", "ä", "a\u{0}b"]) func aFaultyTokenIsRefused(token: String) {
        #expect(throws: ServerAddress.Fault.token) { try ServerAddress("https://a", token: token) }
    }
}
