public import XferModel

/// Limits by the time of day: each entry holds from its time until the next one's, the last one over midnight.
///
/// Times are what a clock on the wall shows: an entry whose time summer time skips holds from when it is over, and while
/// an hour comes twice whatever holds at that time holds again.
public struct BandwidthSchedule: Hashable, Sendable {
    /// From a time of day on.
    public struct Entry: Hashable, Sendable, CustomStringConvertible {
        public var start: TimeOfDay
        public var limits: BandwidthLimits

        public init(start: TimeOfDay, limits: BandwidthLimits) {
            self.start = start
            self.limits = limits
        }

        /// As it is written.
        public var description: String { "\(start) \(limits)" }
    }

    /// Why a timetable is refused.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case malformed(index: Int)
        /// Two entries begin at the same time: which of them holds?
        case sameTime(TimeOfDay, index: Int)
        case tooMany(limit: Int)

        public var description: String {
            switch self {
            case .malformed: "expected \(BandwidthSchedule.expected)"
            case .sameTime(let time, _): "two entries begin at \(time); each time of day may have one"
            case .tooMany(let limit): "a timetable has \(limit) entries at most"
            }
        }

        /// The entry at fault, if it is one.
        public var index: Int? {
            switch self {
            case .malformed(let index), .sameTime(_, let index): index
            case .tooMany: nil
            }
        }
    }

    public static let expected =
        #"a time of day and a rate, such as "08:00 512K", "08:00 2M/64K" (received/sent) or "19:00 off""#
    /// One for every minute of a day.
    public static let mostEntries = 1440

    /// By time of day.
    public let entries: [Entry]

    public init(_ entries: [Entry] = []) throws(Fault) {
        guard entries.count <= Self.mostEntries else { throw .tooMany(limit: Self.mostEntries) }
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

    /// What holds at that time; nil when there is no timetable.
    public func limits(at time: Timestamp, in zone: TimeZoneRules) -> BandwidthLimits? {
        entry(wallClock: zone.wallClock(at: time.wholeSecond))?.limits
    }

    /// The first instant after `time` at which other limits hold; nil when there is none.
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
        var day = start.dividedDown(by: 86_400)
        while day * 86_400 < end {
            for entry in entries {
                let wallClock = day * 86_400 + Int64(entry.start.minutes) * 60
                guard wallClock > start else { continue }
                guard wallClock < end else { return nil }
                if entry.limits != limits { return wallClock }
            }
            day += 1
        }
        return nil
    }

    private func entry(wallClock: Int64) -> Entry? {
        let minute = (wallClock - wallClock.dividedDown(by: 86_400) * 86_400) / 60
        return entries.last { $0.start.minutes <= minute } ?? entries.last
    }
}

/// Bytes per second in both directions; 0 is unlimited.
public struct BandwidthLimits: Hashable, Sendable, CustomStringConvertible {
    public var receive: Int64
    public var send: Int64

    public init(receive: Int64 = 0, send: Int64 = 0) {
        self.receive = receive
        self.send = send
    }

    /// Reads a rate for both directions, `RECEIVED/SENT`, or `off`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let receive = Self.rate(parts[0]),
            let send = Self.rate(parts[parts.count - 1])
        else { return nil }
        self.init(receive: receive, send: send)
    }

    public var description: String {
        receive == send ? Self.text(receive) : "\(Self.text(receive))/\(Self.text(send))"
    }

    /// Beyond it nobody means a limit, bytes per second.
    public static let highest: Int64 = 1 << 50

    private static func rate(_ text: some StringProtocol) -> Int64? {
        if text == "off" || text == "0" { return 0 }
        guard let rate = ByteSizeText.parse(String(text)), (1...highest).contains(rate) else { return nil }
        return rate
    }

    private static func text(_ rate: Int64) -> String { rate == 0 ? "off" : ByteSizeText.format(rate) }
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
