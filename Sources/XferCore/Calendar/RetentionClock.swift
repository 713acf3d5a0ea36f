public import XferModel

/// Both clocks of the machine at one moment.
public struct ClockReading: Hashable, Sendable {
    public var wall: Timestamp
    public var uptime: MonotonicInstant
    /// Tells one boot of the machine from others; `uptime` begins anew with each.
    public var boot: String

    public init(wall: Timestamp, uptime: MonotonicInstant, boot: String) {
        self.wall = wall
        self.uptime = uptime
        self.boot = boot
    }
}

/// Decides whether the wall clock may be trusted for ages, to delete what is too old.
///
/// A clock that was set shows false ages: after a jump by a year everything is a year old. Within a boot the uptime
/// shows every jump. Between two boots it is unknown how long the machine was off: up to a day is plausible. After any
/// other change, nothing is deleted for its age until the clock has run for a day of uptime without another change.
public struct RetentionClock: Hashable, Sendable {
    /// How long a changed clock has to run before it is trusted.
    public static let probation = Duration.seconds(86_400)
    /// How long a machine may have been off, or a clock may have been behind at a boot.
    public static let plausibleGap = Duration.seconds(86_400)
    /// Smaller steps are corrections, not changes.
    public static let tolerance = Duration.seconds(300)

    public private(set) var last: ClockReading
    /// Uptime that the changed clock has still to run.
    public private(set) var remaining: Duration

    public var isTrusted: Bool { remaining <= .zero }

    /// Trusts the clock as it is, since no earlier reading exists.
    public init(_ first: ClockReading) { self.init(last: first, remaining: .zero) }

    private init(last: ClockReading, remaining: Duration) {
        self.last = last
        self.remaining = remaining
    }

    /// Records the present reading of the clocks.
    ///
    /// - Returns: by how much the wall clock was set since the last reading; nil across boots, where that is not known.
    @discardableResult
    public mutating func observe(_ now: ClockReading) -> Duration? {
        defer { last = now }
        let progress = last.wall.duration(to: now.wall)
        // If the uptime has become less, the machine was booted again, even if the boot's name is equal.
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

    /// If a clock is behind at each boot and then set, the machine may never be up for a day. So a plausible step
    /// during probation does not begin it anew.
    private mutating func onChange(by step: Duration) {
        let isPlausible = step > .zero && step <= Self.plausibleGap
        if isTrusted || !isPlausible { remaining = Self.probation }
    }
}

extension RetentionClock {
    /// For the database: read back by `init(text:)`.
    public var text: String {
        "1 \(last.wall.rawValue) \(last.uptime.nanoseconds) \(remaining.wholeMicroseconds) \(last.boot)"
    }

    /// Nil when the text is none of ours.
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
