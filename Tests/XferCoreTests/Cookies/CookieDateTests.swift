import Testing
import XferModel

@testable import XferCore

/// Dates of the http-state group's suite (tests/data/dates) and of RFC 6265 §5.1.1.
@Suite struct CookieDateTests {
    @Test(
        arguments: [
            ("Mon, 10-Dec-2007 17:02:24 GMT", 1_197_306_144), ("Thursday, 01-Jan-1970 00:00:00 GMT", 0),
            ("Wednesday, 01-Jan-10 00:00:00 GMT", 1_262_304_000), ("Wed, 1 Jan 2020 00:00:00 GMT", 1_577_836_800),
            ("Thu, 31 Dec 23:55:55 2037 GMT", 2_145_916_555),
            ("Wed Dec 12 2007 08:44:07 GMT-0500 (EST)", 1_197_449_047),
            ("Wednesday, 01-Jan-10 0:0:00 GMT", 1_262_304_000), ("Thu, 10 Dec 2009 13:57:2 GMT", 1_260_453_422),
            ("Mon, 18-Apr-77 22:50:13 GMT", 230_251_813),
        ] as [(String, Int64)])
    func datesOfServersAreRead(text: String, seconds: Int64) { #expect(CookieDate.parse(text) == seconds) }

    /// All of them are 2007-04-18T22:50:12Z.
    @Test(arguments: [
        "Wed,18-Apr-07 22:50:12 GMT", "WillyWonka  , 18-Apr-07 22:50:12", "WillyWonka  ,  18-apr-07   22:50:12",
        "Partyday, 18- April-07 22:50:12", "Partyday, 18 - Apri-07 22:50:12", "22:50:12 Thu Apr 18 2007 GMT",
        "Thu 22:50:12 Apr 18 2007 GMT", "Thu Apr 22:50:12 18 2007 GMT", "Thu Apr 18 2007 GMT 22:50:12",
        "18-Sat, Apr 22:50:12 GMT 07", "18 07 Apr 22:50:12", "2007 April 18 22:50:12", "18/Apr\\2007 22:50:12 GMT",
        "\"Sat, 18-Apr-07\\\"22:50:12\\\"GMT\"", "Sat, 18-Apr-07 22:50:12 11:22:33", "Sat, 18-Apr-07 boink:z 22:50:12",
        "Sat, 18-Apr-07 ::00 22:50:12", "Sat, 18-Apr-07 22:50:12 GMT BLAH", "18-Apr-07 22:50:12GMT",
    ])
    func thePartsOfADateMayStandInAnyOrder(text: String) { #expect(CookieDate.parse(text) == 1_176_936_612) }

    @Test(arguments: [
        "Sat, 15-Apr-17 91:22:33 21:01:22", "98 April 17 21:01:22", "Thu, 012-Aug-2008 20:49:07 GMT",
        "Thu, 12-Aug-31841 20:49:07 GMT", "Thu, 12-Aug-9999999999 20:49:07 GMT",
        "Thu, 999999999999-Aug-2007 20:49:07 GMT", "Thu, 12-Aug-2007 20:61:99999999999 GMT", "IAintNoDateFool", "",
        "29 Feb 2007 00:00:00", "31 Apr 2007 00:00:00", "1 Jan 1600 00:00:00", "1 Jan 2007 24:00:00",
        "1 Jan 2007 00:00",
    ])
    func otherTextsAreNoDate(text: String) { #expect(CookieDate.parse(text) == nil) }
}
