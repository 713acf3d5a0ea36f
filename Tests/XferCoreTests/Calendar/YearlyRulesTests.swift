import Testing
import XferModel

@testable import XferCore

/// POSIX's `TZ` text with the extensions of RFC 8536.
@Suite struct YearlyRulesTests {
    private func rules(_ text: String) throws -> YearlyRules { try #require(YearlyRules(Array(text.utf8))) }

    private func changes(_ text: String, from: String, count: Int) throws -> [String] {
        let rules = try rules(text)
        var second = at(from).second
        var found: [String] = []
        while found.count < count, let next = rules.nextChange(after: second, from: rules.offset(at: second)) {
            found.append("\(Timestamp(seconds: next)) \(rules.offset(at: next))")
            second = next
        }
        return found
    }

    @Test func northernRulesHaveSummerInTheMiddleOfTheYear() throws {
        #expect(
            try changes("CET-1CEST,M3.5.0,M10.5.0/3", from: "2026-01-01T00:00:00Z", count: 3) == [
                "2026-03-29T01:00:00.000Z 7200", "2026-10-25T01:00:00.000Z 3600", "2027-03-28T01:00:00.000Z 7200",
            ])
    }

    /// Summer lasts over the new year.
    @Test func southernRulesHaveSummerOverTheNewYear() throws {
        #expect(
            try changes("AEST-10AEDT,M10.1.0,M4.1.0/3", from: "2026-01-01T00:00:00Z", count: 3) == [
                "2026-04-04T16:00:00.000Z 36000", "2026-10-03T16:00:00.000Z 39600", "2027-04-03T16:00:00.000Z 36000",
            ])
    }

    @Test func rulesMayShiftByHalfAnHour() throws {
        #expect(
            try changes("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", from: "2026-01-01T00:00:00Z", count: 2) == [
                "2026-04-04T15:00:00.000Z 37800", "2026-10-03T15:30:00.000Z 39600",
            ])
    }

    /// Hours before midnight, and after 24: Greenland and Israel.
    @Test func transitionTimesMayLieBeyondTheDay() throws {
        #expect(
            try changes("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", from: "2026-01-01T00:00:00Z", count: 2) == [
                "2026-03-29T01:00:00.000Z -3600", "2026-10-25T01:00:00.000Z -7200",
            ])
        #expect(
            try changes("IST-2IDT,M3.4.4/26,M10.5.0", from: "2026-01-01T00:00:00Z", count: 1) == [
                "2026-03-27T00:00:00.000Z 10800"
            ])
    }

    /// Summer that never ends (RFC 8536 §3.3.1): no change at all.
    @Test func permanentSummerTimeNeverChanges() throws {
        let rules = try rules("EST5EDT,0/0,J365/25")
        #expect(rules.offset(at: at("2026-12-31T23:59:59Z").second) == -14_400)
        #expect(rules.offset(at: at("2027-01-01T04:30:00Z").second) == -14_400)
        #expect(rules.nextChange(after: at("2026-06-01T00:00:00Z").second, from: -14_400) == nil)
    }

    @Test func transitionsMayBeGivenAsDaysOfTheYear() throws {
        // J60 is 1 March in every year, 59 is 29 February in a leap year.
        #expect(
            try changes("XXX0YYY,J60/0,J300/0", from: "2028-01-01T00:00:00Z", count: 1) == [
                "2028-03-01T00:00:00.000Z 3600"
            ])
        #expect(
            try changes("XXX0YYY,59/0,300/0", from: "2028-01-01T00:00:00Z", count: 1) == [
                "2028-02-29T00:00:00.000Z 3600"
            ])
    }

    @Test(arguments: [
        "", "CE-1", "CET", "CET-25", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J366", "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3 ", "<CET-1", "<C>-1", "CET-1:60", "CET-1CEST,366,1",
    ]) func aTextThatIsNoTZIsRefused(text: String) {
        #expect(YearlyRules(Array(text.utf8)) == nil)
    }

    @Test func rulesWithoutSummerTimeHaveOneOffset() throws {
        #expect(try rules("<-03>3") == YearlyRules(standard: -10_800, summer: nil))
        #expect(try rules("<+0545>-5:45").offset(at: 0) == 20_700)
    }
}
