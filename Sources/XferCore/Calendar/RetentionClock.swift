public import XferModel

/// Both clocks of the machine at one moment.
public struct ClockReading: Hashable, Sendable {
    public var wall: Timestamp
    public var uptime: MonotonicInstant
    /// Identifies one boot of the machine. `uptime` starts again at zero with each boot.
    public var boot: String

    public init(wall: Timestamp, uptime: MonotonicInstant, boot: String) {
        self.wall = wall
        self.uptime = uptime
        self.boot = boot
    }
}

/// Decides whether the wall clock is reliable enough to compute the age of records, and so to delete old records.
///
/// If the wall clock was set, ages are false: after a jump by a year every record seems a year old. Within a boot, a
/// comparison with the uptime shows every jump. Between two boots it is unknown how long the machine was off; up to a
/// day is plausible. After any other change the clock is on probation. It is trusted again after a day of uptime;
/// another implausible change starts the day again.
public struct RetentionClock: Hashable, Sendable {
    /// The uptime after which a changed clock is trusted.
    public static let probation = Duration.seconds(86_400)
    /// The longest plausible time for which a machine was off, or by which a clock was behind at a boot.
    public static let plausibleGap = Duration.seconds(86_400)
    /// A step of at most this size, forward or back, is a correction and not a change.
    public static let tolerance = Duration.seconds(300)

    public private(set) var last: ClockReading
    /// The uptime that has to pass until the clock is trusted; zero if it is trusted.
    public private(set) var remaining: Duration

    public var isTrusted: Bool { remaining <= .zero }

    /// Trusts the present clock, since no earlier reading exists.
    public init(_ first: ClockReading) { self.init(last: first, remaining: .zero) }

    private init(last: ClockReading, remaining: Duration) {
        self.last = last
        self.remaining = remaining
    }

    /// Records the present reading of the clocks.
    ///
    /// - Returns: by how much the wall clock was set since the last reading; nil after a new boot, because then it is
    ///   unknown.
    @discardableResult
    public mutating func observe(_ now: ClockReading) -> Duration? {
        defer { last = now }
        let progress = last.wall.duration(to: now.wall)
        // If the uptime has become less, the machine was booted again, even if `boot` is equal.
        guard now.boot == last.boot, now.uptime >= last.uptime else {
            if progress < .zero - Self.tolerance || progress > Self.plausibleGap { onChange(by: progress) }
            return nil
        }
        let elapsed = last.uptime.duration(to: now.uptime)
        let step = progress - elapsed
        if step >= .zero - Self.tolerance, step <= Self.tolerance {
            remaining = max(.zero, remaining - elapsed)
        } else {
            onChange(by: step)
        }
        return step
    }

    /// Starts the probation. A plausible step during the probation does not start it again: a machine whose clock is
    /// behind at each boot, and is then set, may never be up for a day.
    private mutating func onChange(by step: Duration) {
        let isPlausible = step > .zero && step <= Self.plausibleGap
        if isTrusted || !isPlausible { remaining = Self.probation }
    }
}

extension RetentionClock {
    /// The state as text for the database. `init(text:)` reads it.
    public var text: String {
        "1 \(last.wall.rawValue) \(last.uptime.nanoseconds) \(remaining.wholeMicroseconds) \(last.boot)"
    }

    /// Reads the text that `text` wrote. Returns nil for any other text.
    public init?(text: String) {
        let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        let bound = Int64.max / 4
        guard words.count == 5, words[0] == "1", let wall = Int64(words[1], radix: 10), (-bound...bound).contains(wall),
            let uptime = Int64(words[2], radix: 10), (0...bound).contains(uptime),
            let remaining = Int64(words[3], radix: 10), remaining >= 0,
            words[4].utf8.count <= 64
        else { return nil }
        self.init(
            last: ClockReading(
                wall: Timestamp(microseconds: wall), uptime: MonotonicInstant(nanoseconds: uptime),
                boot: String(words[4])),
            remaining: min(.microseconds(remaining), Self.probation))
    }
}
