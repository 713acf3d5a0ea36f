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
        // Another day may be skipped by a zone that moves across the date line.
        let horizon = now + 3 * 86_400
        var start = now
        while start < horizon {
            let offset = zone.offset(at: start)
            let end = min(zone.nextChange(after: start) ?? horizon, horizon)
            if let found = firstChange(from: start + offset, before: end + offset, leaving: current.limits) {
                return Timestamp(seconds: found - offset)
            }
            start = end
        }
        return nil
    }

    private func firstChange(from start: Int64, before end: Int64, leaving limits: BandwidthLimits) -> Int64? {
        if let entry = entry(wallClock: start), entry.limits != limits { return start }
        var day = start.flooringQuotient(by: 86_400)
        while day * 86_400 < end {
            for entry in entries {
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
        let minute = (wallClock - wallClock.flooringQuotient(by: 86_400) * 86_400) / 60
        return entries.last { $0.start.minutes <= minute } ?? entries.last
    }
}
