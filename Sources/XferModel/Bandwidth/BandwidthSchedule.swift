/// Limits by the time of day. Each entry applies from its time until the next entry's time, the last one past midnight.
///
/// Times are wall-clock times. An entry whose time is skipped by the change to summer time applies from the end of the
/// skipped hour. When an hour is repeated, the limits of its times apply again.
public struct BandwidthSchedule: Hashable, Sendable {
    /// The limits from a time of day on.
    public struct Entry: Hashable, Sendable, CustomStringConvertible {
        public var start: TimeOfDay
        public var limits: BandwidthLimits

        public init(start: TimeOfDay, limits: BandwidthLimits) {
            self.start = start
            self.limits = limits
        }

        /// The entry in the form in which users write it.
        public var description: String { "\(start) \(limits)" }
    }

    /// The reason why a timetable is refused.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case malformed(index: Int)
        /// Two entries begin at the same time, so it is undecided which one applies.
        case sameTime(TimeOfDay, index: Int)
        case tooMany(limit: Int)

        public var description: String {
            switch self {
            case .malformed: "expected \(BandwidthSchedule.expected)"
            case .sameTime(let time, _): "two entries begin at \(time); each time of day may have one"
            case .tooMany(let limit): "a timetable has \(limit) entries at most"
            }
        }

        /// The position of the entry at fault; nil if no entry is.
        public var index: Int? {
            switch self {
            case .malformed(let index), .sameTime(_, let index): index
            case .tooMany: nil
            }
        }
    }

    public static let expected =
        #"a time of day and a rate, such as "08:00 512K", "08:00 2M/64K" (received/sent) or "19:00 off""#
    /// The highest number of rules: one for every minute of a day.
    public static let maxEntries = 1440

    /// The entries by time of day.
    public let entries: [Entry]

    /// A timetable without limits.
    public init() { entries = [] }

    public init(_ entries: [Entry]) throws(Fault) {
        guard entries.count <= Self.maxEntries else { throw .tooMany(limit: Self.maxEntries) }
        var seen: Set<TimeOfDay> = []
        for (index, entry) in entries.enumerated() where !seen.insert(entry.start).inserted {
            throw .sameTime(entry.start, index: index)
        }
        self.entries = entries.sorted { $0.start < $1.start }
    }

    /// Reads entries such as `08:00 512K`.
    public init(parsing lines: [String]) throws(Fault) {
        var entries: [Entry] = []
        for (index, line) in lines.enumerated() {
            guard let entry = Entry(line) else { throw .malformed(index: index) }
            entries.append(entry)
        }
        try self.init(entries)
    }
}

extension BandwidthSchedule.Entry {
    /// Reads `HH:MM RATE`; 24:00 begins no day.
    public init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let start = TimeOfDay(parts[0]), start != .endOfDay,
            let limits = BandwidthLimits(parts[1])
        else { return nil }
        self.init(start: start, limits: limits)
    }
}
