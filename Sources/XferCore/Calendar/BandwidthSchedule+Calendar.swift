public import XferModel

/// The limits of a timetable at a time, in a zone.
extension BandwidthSchedule {
    /// The limits in force at that time; nil when there is no timetable.
    public func limits(at time: Timestamp, in zone: TimeZoneRules) -> BandwidthLimits? {
        entry(wallClock: zone.wallClock(at: time.wholeSecond))?.limits
    }

    /// The first instant after `time` at which other limits apply; nil when there is none.
    public func nextChange(after time: Timestamp, in zone: TimeZoneRules) -> Timestamp? {
        let now = time.wholeSecond
        guard let current = entry(wallClock: zone.wallClock(at: now)), entries.count > 1 else { return nil }
        return zone.firstChange(after: now) { firstChange(from: $0, before: $1, leaving: current.limits) }
    }

    private func firstChange(from start: Int64, before end: Int64, leaving limits: BandwidthLimits) -> Int64? {
        if let entry = entry(wallClock: start), entry.limits != limits { return start }
        var day = start.flooringQuotient(by: 86_400)
        while day * 86_400 < end {
            let weekday = Weekday(daysSinceEpoch: day)
            for entry in entries where entry.begins(on: weekday) {
                let wallClock = day * 86_400 + Int64(clamping: entry.start.minutes) * 60
                guard wallClock > start else { continue }
                guard wallClock < end else { return nil }
                if entry.limits != limits { return wallClock }
            }
            day += 1
        }
        return nil
    }

    private func entry(wallClock: Int64) -> Entry? {
        let day = wallClock.flooringQuotient(by: 86_400)
        let minute = (wallClock - day * 86_400) / 60
        let today = Weekday(daysSinceEpoch: day)
        if let entry = entries.last(where: { $0.begins(on: today) && $0.start.minutes <= minute }) { return entry }
        // Else the last one of the day before on which one begins, at most a week ago.
        for distance: Int64 in 1...7 {
            let weekday = Weekday(daysSinceEpoch: day - distance)
            if let entry = entries.last(where: { $0.begins(on: weekday) }) { return entry }
        }
        return nil
    }
}
