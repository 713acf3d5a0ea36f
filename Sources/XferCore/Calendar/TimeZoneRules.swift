import XferModel

/// A time zone: the offset of its clocks from UTC, in seconds, at every instant.
///
/// Made from a file of the time zone database (RFC 8536); Swift's own `TimeZone` finds none in a statically linked
/// program. Instants are whole seconds since 1970-01-01T00:00:00Z.
public struct TimeZoneRules: Hashable, Sendable {
    /// A change of the offset: from `start` on clocks are `offset` seconds ahead of UTC.
    struct Change: Hashable, Sendable {
        var start: Int64
        var offset: Int64
    }

    /// The offset before the first change.
    var initialOffset: Int64
    /// Ascending.
    var changes: [Change]
    /// The rules that apply from `rulesStart` on, forever.
    var rules: YearlyRules?
    var rulesStart: Int64

    init(initialOffset: Int64, changes: [Change] = [], rules: YearlyRules? = nil, rulesStart: Int64 = .min) {
        self.initialOffset = initialOffset
        self.changes = changes
        self.rules = rules
        self.rulesStart = rulesStart
    }

    public static let utc = TimeZoneRules(initialOffset: 0)

    /// The range of changes: none begins after this second, or before its negative. It is 70,000 years from 1970, so
    /// that offsets and days can be added without overflow.
    static let end: Int64 = 1 << 41

    /// Seconds that clocks there are ahead of UTC.
    public func offset(at second: Int64) -> Int64 {
        if let rules, second >= rulesStart { return rules.offset(at: second) }
        let index = changes.firstIndex(after: second)
        return index == 0 ? initialOffset : changes[index - 1].offset
    }

    /// The first instant after `second` at which the offset changes; nil when it never does again.
    public func nextChange(after second: Int64) -> Int64? {
        var current = offset(at: second)
        for change in changes[changes.firstIndex(after: second)...] {
            if change.offset != current { return change.start }
            current = change.offset
        }
        return rules?.nextChange(after: max(second, rulesStart == .min ? second : rulesStart - 1), from: current)
    }

    /// Seconds since 1970-01-01T00:00:00 in local time.
    func wallClock(at second: Int64) -> Int64 { second.addingSaturated(offset(at: second)) }

    /// The first instant after `second` at which what recurs each week changes in local time; nil if nothing changes.
    ///
    /// - Parameter find: finds the first change among local times, from the first one and before the second one. Between
    ///   them the offset is the same; at the first one, local time may have jumped.
    func firstChange(after second: Int64, _ find: (_ start: Int64, _ end: Int64) -> Int64?) -> Timestamp? {
        // A week contains every change. A zone that moves across the date line may skip a day or two. 16 days are enough
        // for both.
        let horizon = second + 16 * 86_400
        var start = second
        while start < horizon {
            let offset = offset(at: start)
            let end = min(nextChange(after: start) ?? horizon, horizon)
            if let found = find(start + offset, end + offset) { return Timestamp(seconds: found - offset) }
            start = end
        }
        return nil
    }
}

extension [TimeZoneRules.Change] {
    /// The first change that is later than `second`.
    fileprivate func firstIndex(after second: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].start <= second { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
