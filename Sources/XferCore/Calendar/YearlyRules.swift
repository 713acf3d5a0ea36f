import XferModel

/// A time zone's rules as POSIX writes them in `TZ` (POSIX.1-2017 §8.3, RFC 8536 §3.3): `CET-1CEST,M3.5.0,M10.5.0/3`.
struct YearlyRules: Hashable, Sendable {
    /// Seconds ahead of UTC.
    var standard: Int64
    var summer: Summer?

    struct Summer: Hashable, Sendable {
        var offset: Int64
        var start: Day
        var end: Day
    }

    /// The day of a change within a year.
    struct Day: Hashable, Sendable {
        enum Form: Hashable, Sendable {
            /// 1 … 365, 29 February never counted.
            case julian(Int64)
            /// 0 … 365, 29 February counted.
            case ordinal(Int64)
            /// The `week`th `weekday` (0 is Sunday) of a month; the fifth is the last.
            case weekday(month: Int64, week: Int64, weekday: Int64)
        }

        var form: Form
        /// Seconds after midnight in the local time before the change, −167 h … 167 h.
        var time: Int64 = 7200

        /// Seconds since 1970 in the local time before the change.
        func wallClock(in year: Int64) -> Int64 {
            let newYear = CivilDate(year: year, month: 1, day: 1).daysSinceEpoch
            let day: Int64
            switch form {
            case .julian(let number):
                let isAfterLeapDay = CivilDate.days(inMonth: 2, of: year) == 29 && number >= 60
                day = newYear + number - (isAfterLeapDay ? 0 : 1)
            case .ordinal(let number): day = newYear + number
            case .weekday(let month, let week, let weekday):
                let first = CivilDate(year: year, month: month, day: 1).daysSinceEpoch
                // 1970-01-01 was a Thursday.
                let firstWeekday = ((first + 4) % 7 + 7) % 7
                var date = (weekday - firstWeekday + 7) % 7 + 7 * (week - 1)
                if date >= CivilDate.days(inMonth: month, of: year) { date -= 7 }
                day = first + date
            }
            return day * 86_400 + time
        }
    }

    func offset(at second: Int64) -> Int64 {
        changes(around: second).last { $0.start <= second }?.offset ?? standard
    }

    /// The first instant after `second` at which an offset other than `current` begins.
    func nextChange(after second: Int64, from current: Int64) -> Int64? {
        // The last change may be undone at the same instant by one that is not in the list.
        changes(around: second).dropLast().first { $0.start > second && $0.offset != current }?.start
    }

    /// The changes of the year before to two years after, in order. If two have the same instant, only the later one
    /// counts.
    private func changes(around second: Int64) -> [TimeZoneRules.Change] {
        guard let summer else { return [] }
        let second = min(max(second, -TimeZoneRules.end), TimeZoneRules.end)
        let year = CivilDate(daysSinceEpoch: (second + standard).flooringQuotient(by: 86_400)).year
        var found: [(change: TimeZoneRules.Change, rank: Int)] = []
        for year in year - 1...year + 2 {
            // Where summer never ends, its end and the next start are one instant: the start comes last.
            found.append(
                (.init(start: summer.end.wallClock(in: year) - summer.offset, offset: standard), rank: 0))
            found.append((.init(start: summer.start.wallClock(in: year) - standard, offset: summer.offset), rank: 1))
        }
        found.sort { ($0.change.start, $0.rank) < ($1.change.start, $1.rank) }
        return found.indices.filter { index in
            index + 1 == found.count || found[index + 1].change.start != found[index].change.start
        }.map { found[$0].change }
    }
}
