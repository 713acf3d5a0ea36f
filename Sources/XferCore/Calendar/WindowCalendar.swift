public import XferModel

/// Computes when a `TimeWindow` is open, in a time zone.
public struct WindowCalendar: Sendable {
    private let times: [DailyTimes]
    private let days: Set<Weekday>
    private let zone: TimeZoneRules
    /// Minutes of a day, 0 … 1439, at which the window may open or close.
    private let boundaries: [Int64]

    public init(_ window: TimeWindow, in zone: TimeZoneRules) {
        times = window.times.isEmpty ? [.wholeDay] : window.times
        days = Set(window.days.isEmpty ? Weekday.allCases : window.days)
        self.zone = zone
        boundaries = Set([0] + times.flatMap { [$0.start, $0.end] }.map { Int64(clamping: $0.minutes) % 1440 }).sorted()
    }

    public func isOpen(at time: Timestamp) -> Bool { isOpen(wallClock: zone.wallClock(at: time.wholeSecond)) }

    /// The first instant after `time` at which the window opens or closes; nil if it always stays open or closed.
    ///
    /// Between two changes of the zone's offset, the window opens and closes only at its own times. At such a change
    /// the local time jumps, possibly into or out of the window.
    public func nextChange(after time: Timestamp) -> Timestamp? {
        let isOpen = isOpen(at: time)
        return zone.firstChange(after: time.wholeSecond) { firstBoundary(from: $0, before: $1, leaving: isOpen) }
    }

    /// The first local time in the range, in seconds, at which the window is open although `isOpen` is false, or closed
    /// although it is true. It checks the start of the range, to which the local time may have jumped, and the
    /// boundaries.
    private func firstBoundary(from start: Int64, before end: Int64, leaving isOpen: Bool) -> Int64? {
        if self.isOpen(wallClock: start) != isOpen { return start }
        var day = start.flooringQuotient(by: 86_400)
        while day * 86_400 < end {
            for minute in boundaries {
                let wallClock = day * 86_400 + minute * 60
                guard wallClock > start else { continue }
                guard wallClock < end else { return nil }
                if self.isOpen(wallClock: wallClock) != isOpen { return wallClock }
            }
            day += 1
        }
        return nil
    }

    private func isOpen(wallClock: Int64) -> Bool {
        let day = wallClock.flooringQuotient(by: 86_400)
        let minute = (wallClock - day * 86_400) / 60
        let (today, yesterday) = (Weekday(daysSinceEpoch: day), Weekday(daysSinceEpoch: day - 1))
        return times.contains { times in
            let (start, end) = (Int64(clamping: times.start.minutes), Int64(clamping: times.end.minutes))
            guard times.crossesMidnight else { return days.contains(today) && start <= minute && minute < end }
            return days.contains(today) && minute >= start || days.contains(yesterday) && minute < end
        }
    }
}
