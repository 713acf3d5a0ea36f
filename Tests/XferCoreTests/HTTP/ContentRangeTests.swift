import Testing
import XferCore

@Suite struct ContentRangeTests {
    @Test(arguments: [
        ("bytes 0-99/200", ContentRange.satisfied(first: 0, last: 99, complete: 200)),
        ("Bytes 5-5/6", .satisfied(first: 5, last: 5, complete: 6)),
        ("bytes 0-99/*", .satisfied(first: 0, last: 99, complete: nil)),
        ("bytes */200", .unsatisfied(complete: 200)),
    ])
    func aValidContentRangeIsParsed(text: String, expected: ContentRange) {
        #expect(ContentRange(parsing: text) == expected)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-99", "octets 0-99/200", "bytes 100-99/200", "bytes 0-200/200", "bytes 0-99/99",
        "bytes */*", "bytes -5/10", "bytes 5-/10", "bytes +1-2/3", "bytes 1-2/ 3", "bytes 0-99/200 ", "bytes=0-99/200",
        "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*", "bytes 0-1-2/5", "bytes 0x1-2/5",
    ])
    func anInvalidContentRangeIsRejected(text: String) {
        #expect(ContentRange(parsing: text) == nil)
    }
}
