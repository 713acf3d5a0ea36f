import Testing
import XferModel
import XferTestSupport

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func theThreeFormsOfADateAreOneInstant(text: String) {
        #expect(HTTPDate.parse(text) == Timestamp(seconds: 784_111_777))
    }

    @Test(arguments: [
        "", "now", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT",
    ])
    func aTextThatIsNoHTTPDateIsRejected(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test func twoDigitYearsTurnIn1970() {
        #expect(HTTPDate.parse("Thursday, 01-Jan-70 00:00:00 GMT") == Timestamp(seconds: 0))
        #expect(HTTPDate.parse("Tuesday, 01-Jan-69 00:00:00 GMT") == Timestamp(seconds: 3_124_224_000))
    }

    @Test func aFormattedDateParsesToItself() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<1000 {
            let time = Timestamp(seconds: Int64.random(in: -10_000_000_000...20_000_000_000, using: &random))
            #expect(HTTPDate.parse(HTTPDate.format(time)) == time)
        }
        #expect(HTTPDate.format(Timestamp(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        arguments: [
            (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)]) func everyTimeIsWrittenAsTheNearestThatHTTPCanWrite(microseconds: Int64, text: String)
    {
        #expect(HTTPDate.format(Timestamp(microseconds: microseconds)) == text)
    }
}
