import Testing
import XferCore
import XferModel

/// RFC 9111 §4.2: how long a kept response may be used.
@Suite struct FreshnessTests {
    typealias Fields = [(String, String)]

    private func lifetime(_ pairs: Fields, status: Int = 200) -> Int64 {
        let dated = pairs.contains { $0.0 == "Date" } ? pairs : pairs + [("Date", Sample.date(0))]
        let response = StoredResponse(
            url: Sample.url, finalURL: Sample.url, status: status, fields: Sample.fields(dated),
            requestTime: Sample.time(0), responseTime: Sample.time(0))
        return Freshness(of: response, at: Sample.time(0)).lifetime.components.seconds
    }

    @Test func maxAgeWinsOverExpires() {
        #expect(lifetime([("Cache-Control", "max-age=10"), ("Expires", Sample.date(99))]) == 10)
        #expect(lifetime([("Expires", Sample.date(99))]) == 99)
    }

    @Test func sMaxageIsIgnored() {
        #expect(lifetime([("Cache-Control", "s-maxage=1000")]) == 0)
        #expect(lifetime([("Cache-Control", "s-maxage=1, max-age=50, proxy-revalidate")]) == 50)
    }

    @Test(arguments: ["max-age=10", "Max-Age=10", "max-age=\"10\"", "foo, max-age=10 , bar=\"a, max-age=99\""])
    func directivesAreParsedInEveryForm(_ text: String) { #expect(lifetime([("Cache-Control", text)]) == 10) }

    @Test(arguments: ["max-age=x", "max-age=", "max-age", "max-age=-1", "max-age=1.5", "max-age=1, max-age=2"])
    func anInvalidOrContradictoryDirectiveMakesAResponseStale(_ text: String) {
        #expect(lifetime([("Cache-Control", text), ("Expires", Sample.date(1000))]) == 0)
    }

    @Test func aMaxAgeBeyondTheRangeIsClamped() {
        #expect(lifetime([("Cache-Control", "max-age=99999999999999999999999")]) == 1 << 31)
    }

    @Test(arguments: [
        "0", "-1", "soon", "Sun, 99 Nov 1994 08:49:37 GMT", "",
        "Sun 06 Nov 2094 08:49:37 GMT", "Sun,  06 Nov 2094 08:49:37 GMT", "Sun, 06, Nov 2094 08:49:37 GMT",
    ])
    func anInvalidExpiresCountsAsPast(_ text: String) {
        #expect(lifetime([("Expires", text), ("Last-Modified", Sample.date(-1_000_000))]) == 0)
    }

    @Test(arguments: ["Mon, 07 Nov 1994 08:49:37 GMT", "Monday, 07-Nov-94 08:49:37 GMT", "Mon Nov  7 08:49:37 1994"])
    func anExpiryIsReadInItsThreeForms(_ text: String) { #expect(lifetime([("Expires", text)]) == 86_400) }

    @Test func anExpiresBeforeTheDateCountsAsPast() { #expect(lifetime([("Expires", Sample.date(-5))]) == 0) }

    @Test func theHeuristicLifetimeIsATenthOfTheTimeSinceModification() {
        #expect(lifetime([("Last-Modified", Sample.date(-1000))]) == 100)
        #expect(lifetime([("Last-Modified", Sample.date(-1000))], status: 404) == 100)
        #expect(lifetime([("Last-Modified", Sample.date(-1000))], status: 201) == 0)
        #expect(lifetime([("Last-Modified", Sample.date(-1000)), ("Cache-Control", "public")], status: 201) == 100)
        #expect(lifetime([("Last-Modified", Sample.date(1000))]) == 0)
        #expect(lifetime([]) == 0)
    }

    @Test func theHeuristicLifetimeIsAtMostADay() {
        #expect(lifetime([("Last-Modified", Sample.date(-100_000_000))]) == 86_400)
    }

    @Test func aRedirectedResponseIsAlwaysRevalidated() {
        let response = Sample.response(("Cache-Control", "max-age=1000"), finalURL: Sample.elsewhere)
        #expect(!Freshness(of: response, at: Sample.time(1)).isFresh)
    }

    // MARK: §4.2.3

    private func age(_ response: StoredResponse, at seconds: Int64) -> Int64? {
        Freshness(of: response, at: Sample.time(seconds)).age?.components.seconds
    }

    @Test func timeInTheCacheCountsTowardsTheAge() { #expect(age(Sample.response(), at: 30) == 30) }

    @Test func theAgeFieldAndTheDelayCountTowardsTheAge() {
        #expect(age(Sample.response(("Age", "7"), asked: -3, answered: 0), at: 30) == 40)
    }

    @Test func theLargerOfDateAndAgeFieldDeterminesTheAge() {
        #expect(age(Sample.response(("Date", Sample.date(-100)), ("Age", "7")), at: 30) == 130)
        #expect(age(Sample.response(("Date", Sample.date(-5)), ("Age", "7")), at: 30) == 37)
    }

    @Test func aDateInTheFutureDoesNotReduceTheAge() {
        #expect(age(Sample.response(("Date", Sample.date(500))), at: 30) == 30)
    }

    @Test func withoutADateTheAgeCountsFromTheArrival() { #expect(age(Sample.response(("Date", "")), at: 30) == 30) }

    @Test(arguments: [("x", 30), ("-5", 30), ("7, 900", 37), ("", 30)])
    func anInvalidAgeFieldIsIgnored(_ text: String, _ expected: Int64) {
        #expect(age(Sample.response(("Age", text)), at: 30) == expected)
    }

    @Test func aClockSetBackMakesAResponseStale() {
        let response = Sample.response(("Cache-Control", "max-age=1000"))
        #expect(age(response, at: -1) == nil)
        #expect(!Freshness(of: response, at: Sample.time(-1)).isFresh)
    }

    @Test func aResponseIsFreshUntilItsAgeReachesItsLifetime() {
        let response = Sample.response(("Cache-Control", "max-age=10"))
        #expect(Freshness(of: response, at: Sample.time(9)).isFresh)
        #expect(!Freshness(of: response, at: Sample.time(10)).isFresh)
    }

    @Test func aResponseFromTheCacheCarriesItsCurrentAge() {
        let head = Sample.response(("Age", "7")).head(usedAt: Sample.time(3))
        #expect(head.fields.filter { $0.name == "Age" }.map(\.value) == ["10"])
    }

    /// Whatever the fields and times: never fresh beyond what the server said, and never older backwards.
    @Test func randomTimesNeverMakeAResponseFresherThanItIs() {
        var state: UInt64 = 0x5EED
        func draw(_ range: ClosedRange<Int64>) -> Int64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int64(state >> 33) % (range.upperBound - range.lowerBound + 1)
        }
        for _ in 0..<20_000 {
            let (maxAge, told, delay, dated) = (draw(0...100), draw(0...50), draw(0...20), draw(-50...50))
            let response = Sample.response(
                ("Cache-Control", "max-age=\(maxAge)"), ("Age", "\(told)"), ("Date", Sample.date(dated)), asked: 0,
                answered: delay)
            let now = delay + draw(0...200)
            let found = Freshness(of: response, at: Sample.time(now))
            let expected = max(max(0, delay - dated), told + delay) + now - delay
            #expect(found.age == .seconds(expected))
            #expect(found.isFresh == (expected < maxAge))
        }
    }
}
