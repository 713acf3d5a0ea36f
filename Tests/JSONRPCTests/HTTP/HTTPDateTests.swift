import Testing

@testable import JSONRPC

@Suite struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (Int.min, "Wed, 01 Jan 1000 00:00:00 GMT"),
        (Int.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func writesTheFormOfTheRFC(seconds: Int, text: String) {
        #expect(HTTPDate.text(for: seconds) == text)
    }
}
