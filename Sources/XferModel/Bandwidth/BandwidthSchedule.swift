/// Limits by the time of day and the day of the week. Each entry applies from its time until the next entry's time,
/// the last one of a day past midnight, also into days on which none begins.
///
/// Times are wall-clock times. An entry whose time is skipped by the change to summer time applies from the end of the
/// skipped hour. When an hour is repeated, the limits of its times apply again.
public struct BandwidthSchedule: Hashable, Sendable {
    /// The limits from a time of day on, on some days of the week.
    public struct Entry: Hashable, Sendable, CustomStringConvertible {
        public let start: TimeOfDay
        public let limits: BandwidthLimits
        /// The days on which it begins, in the order of the week; none is every day.
        public let days: [Weekday]

        /// - Parameter days: the days on which it begins, in any order; none is every day.
        public init(start: TimeOfDay, limits: BandwidthLimits, days: [Weekday] = []) {
            let distinct = Set(days)
            self.start = start
            self.limits = limits
            self.days = distinct.count == Weekday.allCases.count ? [] : Weekday.allCases.filter(distinct.contains)
        }

        /// True if the entry begins on such days.
        public func begins(on day: Weekday) -> Bool { days.isEmpty || days.contains(day) }

        /// The entry in the form in which users write it.
        public var description: String {
            days.isEmpty ? "\(start) \(limits)" : "\(Weekday.text(days)) \(start) \(limits)"
        }
    }

    /// The reason why a timetable is refused.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case malformed(index: Int)
        /// An entry has a span of time instead of its beginning: it is two entries.
        case span(from: String, to: String, index: Int)
        /// The rate 0, which may be meant as a stop or as no limit.
        case zero(index: Int)
        /// Two entries begin at the same time, so it is undecided which one applies: on this day, or on every day if it
        /// is nil.
        case sameTime(TimeOfDay, day: Weekday?, index: Int)
        case tooMany(limit: Int)

        public var description: String {
            switch self {
            case .malformed: "expected \(BandwidthSchedule.expected)"
            case .span(let from, let to, _):
                "an entry has no end: the span is two entries, \"\(from)\" and \"\(to)\""
            case .zero:
                "a rate of 0 is not accepted: \"off\" is no limit, and a timetable stops nothing; use the window of tasks, "
                    + "or pause the queue"
            case .sameTime(let time, nil, _): "two entries begin at \(time); each time of day may have one"
            case .sameTime(let time, let day?, _):
                "two entries begin on \(day.rawValue) at \(time); each time of a day may have one"
            case .tooMany(let limit): "a timetable has \(limit) entries at most"
            }
        }

        /// The fault of a text that is no entry.
        public static func refusing(_ text: String, index: Int) -> Fault {
            if text.split(separator: " ").last == "0" { return .zero(index: index) }
            guard let (from, to) = Entry.ofSpan(text) else { return .malformed(index: index) }
            return .span(from: from, to: to, index: index)
        }

        /// The position of the entry at fault; nil if no entry is.
        public var index: Int? {
            switch self {
            case .malformed(let index), .span(_, _, let index), .zero(let index), .sameTime(_, _, let index): index
            case .tooMany: nil
            }
        }
    }

    public static let expected =
        #"a time of day and a rate, such as "08:00 512K", "08:00 2M/64K" (received/sent) or "19:00 off", "#
        + #"or days before them, such as "mon-fri 08:00 512K" or "sat,sun 00:00 off""#
    /// The highest number of entries: as many as a day has minutes.
    public static let maxEntries = 1440

    /// The entries by time of day.
    public let entries: [Entry]

    /// A timetable without limits.
    public init() { entries = [] }

    public init(_ entries: [Entry]) throws(Fault) {
        guard entries.count <= Self.maxEntries else { throw .tooMany(limit: Self.maxEntries) }
        var taken: [TimeOfDay: Set<Weekday>] = [:]
        for (index, entry) in entries.enumerated() {
            let others = taken[entry.start] ?? []
            if let day = Weekday.allCases.first(where: { entry.begins(on: $0) && others.contains($0) }) {
                let isEveryDay = entry.days.isEmpty && others.count == Weekday.allCases.count
                throw .sameTime(entry.start, day: isEveryDay ? nil : day, index: index)
            }
            taken[entry.start] = others.union(Weekday.allCases.filter(entry.begins))
        }
        self.entries = entries.sorted { $0.start < $1.start }
    }

    /// Reads entries such as `08:00 512K`.
    public init(parsing lines: [String]) throws(Fault) {
        var entries: [Entry] = []
        for (index, line) in lines.enumerated() {
            guard let entry = Entry(line) else { throw .refusing(line, index: index) }
            entries.append(entry)
        }
        try self.init(entries)
    }
}

extension BandwidthSchedule.Entry {
    /// Reads `HH:MM RATE` or `DAYS HH:MM RATE`, also `H:MM`; 24:00 begins no day.
    public init?(_ text: String) {
        var parts = text.split(separator: " ")
        var days: [Weekday] = []
        if parts.count == 3 {
            guard let named = Weekday.days(parts.removeFirst()) else { return nil }
            days = named
        }
        guard parts.count == 2, parts[1] != "0", let start = TimeOfDay(typed: parts[0]), start != .endOfDay,
            let limits = BandwidthLimits(parts[1])
        else { return nil }
        self.init(start: start, limits: limits, days: days)
    }

    /// The texts of the two entries that mean what a text such as `mon-fri 08:00-22:00 512K` says; nil for another text.
    static func ofSpan(_ text: String) -> (from: String, to: String)? {
        var parts = text.split(separator: " ")
        guard let rate = parts.popLast(), let times = parts.popLast() else { return nil }
        let ends = times.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let texts = (
            from: (parts + [ends[0], rate]).joined(separator: " "),
            to: (parts + [ends[1], "off"]).joined(separator: " ")
        )
        guard let from = Self(texts.from), let to = Self(texts.to) else { return nil }
        // Over midnight the days of both entries would differ.
        return from.start < to.start || from.start != to.start && parts.isEmpty ? texts : nil
    }
}
