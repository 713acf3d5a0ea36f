import Testing
import XferModel

/// Days of the week as text.
@Suite struct WeekdayTextTests {
    @Test(
        arguments: [
            ("mon", [.monday]), ("Mo,TUESDAY", [.monday, .tuesday]), ("wed-fri", [.wednesday, .thursday, .friday]),
            ("sat-mon", [.saturday, .sunday, .monday]), ("sun-sun", [.sunday]),
            ("mon,wed-thu", [.monday, .wednesday, .thursday]),
        ] as [(String, [Weekday])])
    func daysAreListsAndRanges(text: String, days: [Weekday]) { #expect(Weekday.days(text) == days) }

    @Test(arguments: ["", "m", "funday", "mon-", "-mon", "mon-tue-wed", "mon,,tue", "mon tue", "montag"])
    func aTextThatNamesNoDaysIsRefused(text: String) { #expect(Weekday.days(text) == nil) }

    @Test func everySetOfDaysIsReadAsItWasWritten() throws {
        for bits in 1..<128 {
            let days = Weekday.allCases.enumerated().filter { bits & (1 << $0.offset) != 0 }.map(\.element)
            let text = Weekday.text(days)
            let read = try #require(Weekday.days(text), "\(text)")
            #expect(read == days, "\(text)")
        }
        #expect(Weekday.text([.friday, .monday, .sunday, .saturday]) == "mon,fri-sun")
        #expect(Weekday.text([]) == "" && Weekday.text(Weekday.allCases) == "mon-sun")
    }
}
