import Testing
import XferModel

@Suite struct HostSelectorTests {
    @Test(
        arguments: [
            ("example.org", "example.org", nil), ("Example.ORG:8080", "example.org", 8080),
            ("example.org:65535", "example.org", 65535), ("example.org:0", "example.org", 0),
            ("[::1]", "[::1]", nil), ("[::1]:81", "[::1]", 81), ("::1", "[::1]", nil),
            ("[2001:DB8:0:0::1]:443", "[2001:db8::1]", 443), ("2001:DB8:0:0::1", "[2001:db8::1]", nil),
            ("[::ffff:192.0.2.1]:80", "[::ffff:192.0.2.1]", 80), ("192.0.2.1:80", "192.0.2.1", 80),
            // None of these is the host of a URL.
            ("example.org:65536", "example.org:65536", nil), ("example.org:", "example.org:", nil),
            ("a:b", "a:b", nil), ("a:1:2", "[a:1:2]", nil), ("[::1", "[[::1]", nil), ("", "", nil),
        ] as [(String, String, UInt16?)])
    func aHostIsReadWithItsPort(text: String, name: String, port: UInt16?) {
        let host = HostSelector(text)
        #expect(host.name == name && host.port == port)
    }

    @Test(arguments: [("h", nil), ("h:80", .http), ("h:443", .https), ("h:8080", nil)] as [(String, HTTPURL.Scheme?)])
    func onlyADefaultPortHasAScheme(text: String, scheme: HTTPURL.Scheme?) {
        #expect(HostSelector(text).scheme == scheme)
    }
}
