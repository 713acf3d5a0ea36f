import XferCore
import XferModel

/// Everything that makes an attempt pause or fail: checkpoints, the limits in both directions, silence, the total time.
///
/// A value: it decides, and the attempt acts.
struct Pacing {
    /// The reasons why receiving or sending is paused.
    struct Pauses: OptionSet {
        let rawValue: UInt8

        /// The manager has not dropped the kept bytes yet.
        static let forCaller = Pauses(rawValue: 1)
        /// Too many bytes are not yet durable.
        static let checkpoint = Pauses(rawValue: 2)
        /// The receive limit's debt.
        static let rate = Pauses(rawValue: 4)
        /// The send limit's debt.
        static let sendRate = Pauses(rawValue: 8)
        /// Other attempts come first under a shared limit.
        static let line = Pauses(rawValue: 16)
        /// The same for sending.
        static let sendLine = Pauses(rawValue: 32)

        static let sending: Pauses = [.sendRate, .sendLine]
    }

    private(set) var pauses: Pauses = []
    private var idle: IdleDeadline
    private var floor: RateFloor?
    private var window: CheckpointWindow?
    private var unsynced: SharedUnsyncedBytes?
    private var bucket: TokenBucket?
    private var rateDebtEnds: MonotonicInstant?
    private var sendBucket: TokenBucket?
    private var sendDebtEnds: MonotonicInstant?
    private let totalDeadline: MonotonicInstant?

    init(timeouts: Timeouts, least: LeastRate = LeastRate(), rate: Int64, sendRate: Int64, now: MonotonicInstant) {
        idle = IdleDeadline(timeout: timeouts.idle)
        floor = RateFloor(rate: least.rate ?? 0, time: least.time ?? 0)
        totalDeadline = timeouts.total > 0 ? now.advanced(by: .seconds(min(timeouts.total, 1e9))) : nil
        bucket = rate > 0 ? TokenBucket(rate: rate, now: now) : nil
        sendBucket = sendRate > 0 ? TokenBucket(rate: sendRate, now: now) : nil
    }

    var isReceivingPaused: Bool { !pauses.subtracting(.sending).isEmpty }
    var isSendingPaused: Bool { !pauses.isDisjoint(with: .sending) }

    /// The next instant at which `onTime` or `expired` may return something.
    var deadline: MonotonicInstant? {
        Self.earlier(
            Self.earlier(Self.earlier(idle.deadline, totalDeadline), Self.earlier(window?.deadline, floor?.deadline)),
            Self.earlier(rateDebtEnds, sendDebtEnds))
    }

    private static func earlier(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> MonotonicInstant? {
        guard let one else { return other }
        guard let other else { return one }
        return min(one, other)
    }

    /// The timeout that has expired, or nil.
    func expired(_ now: MonotonicInstant) -> FailureReason? {
        if let totalDeadline, totalDeadline <= now { return .totalTimeout }
        if let silence = idle.deadline, silence <= now { return .idleTimeout }
        return nil
    }

    // MARK: Silence

    mutating func onActivity(_ now: MonotonicInstant) { idle.onActivity(now) }

    /// Called when a request begins: nothing has been received for it, and nothing pauses it. The limit's debt is paid
    /// with its first bytes.
    mutating func onRequest() {
        pauses = []
        rateDebtEnds = nil
        sendDebtEnds = nil
        idle.onRestart()
        floor?.end()
    }

    // MARK: Least rate

    /// Called when a body begins.
    ///
    /// - Parameter delays: the sum of the loop's own delays so far.
    mutating func expectBytes(_ now: MonotonicInstant, delays: @autoclosure () -> Duration) {
        guard floor != nil else { return }
        floor?.begin(now, delays: delays())
        if isReceivingPaused { floor?.onPause(now) }
    }

    /// Returns true if the body arrives too slowly.
    mutating func isTooSlow(_ now: MonotonicInstant, delays: @autoclosure () -> Duration) -> Bool {
        guard let due = floor?.deadline, due <= now else { return false }
        return floor?.isTooSlow(now, delays: delays()) ?? false
    }

    mutating func pauseForCaller(_ now: MonotonicInstant) { set(.forCaller, true, now) }
    mutating func release(_ now: MonotonicInstant) { set(.forCaller, false, now) }

    /// Records that the attempt joins or leaves the queue of a shared limit.
    mutating func wait(inLine isWaiting: Bool, toSend: Bool = false, _ now: MonotonicInstant) {
        set(toSend ? .sendLine : .line, isWaiting, now)
    }

    // MARK: Checkpoints

    /// Begins to watch bytes that will be written from this offset on.
    mutating func watch(from offset: Int64, limits: CheckpointWindow.Limits, sharing unsynced: SharedUnsyncedBytes?) {
        window = CheckpointWindow(limits: limits, offset: offset)
        self.unsynced = unsynced
    }

    var isWatching: Bool { window != nil }

    /// Part of the body was received and written up to the offset. Like the next two methods it returns the offset of a
    /// checkpoint that has become due.
    mutating func onChunk(_ count: Int, writtenTo offset: Int64, now: MonotonicInstant) -> Int64? {
        idle.onActivity(now)
        floor?.onBytes(count)
        if let end = bucket?.spend(count, now: now) {
            rateDebtEnds = end
            set(.rate, true, now)
        }
        if let unsynced, let window { unsynced.add(offset - window.written) }
        let others = neighbours(at: offset)
        return apply(window?.onWritten(to: offset, now: now, beside: others), now)
    }

    mutating func onCommitted(_ offset: Int64, now: MonotonicInstant) -> Int64? {
        let others = neighbours()
        return apply(window?.onCommitted(offset, now: now, beside: others), now)
    }

    mutating func onTime(_ now: MonotonicInstant) -> Int64? {
        if let end = rateDebtEnds, end <= now {
            rateDebtEnds = nil
            set(.rate, false, now)
        }
        if let end = sendDebtEnds, end <= now {
            sendDebtEnds = nil
            set(.sendRate, false, now)
        }
        let others = neighbours()
        return apply(window?.onTime(now, beside: others), now)
    }

    private mutating func apply(_ action: CheckpointWindow.Action?, _ now: MonotonicInstant) -> Int64? {
        set(.checkpoint, action?.isPaused ?? false, now)
        if action?.dueOffset != nil { unsynced?.beginSaving() }
        return action?.dueOffset
    }

    /// The other attempts at the body, once everything up to the offset is written.
    private func neighbours(at written: Int64? = nil) -> CheckpointWindow.Neighbours {
        guard let unsynced, let window else { return CheckpointWindow.Neighbours() }
        return unsynced.neighbours(besides: (written ?? window.written) - window.committed)
    }

    // MARK: Rate

    /// 0 is unlimited.
    mutating func setRate(_ rate: Int64, now: MonotonicInstant) {
        if rate > 0 {
            if bucket == nil { bucket = TokenBucket(rate: rate, now: now) }
            bucket?.setRate(rate, now: now)
        } else {
            bucket = nil
        }
        guard rateDebtEnds != nil else { return }
        rateDebtEnds = bucket?.spend(0, now: now)
        set(.rate, rateDebtEnds != nil, now)
    }

    /// The highest number of bytes of content that may be sent at once: small under a low limit, so that there are no
    /// long pauses.
    var sendChunk: Int { Self.sendChunk(sendBucket?.rate) }

    /// The highest number of bytes that may be sent at once under a limit of this rate; nil is unlimited.
    static func sendChunk(_ rate: Int64?) -> Int {
        guard let rate else { return .max }
        return Int(clamping: min(max(rate / 8, 256), 64 << 10))
    }

    mutating func onSent(_ count: Int, now: MonotonicInstant) {
        guard let end = sendBucket?.spend(count, now: now) else { return }
        sendDebtEnds = end
        set(.sendRate, true, now)
    }

    /// 0 is unlimited.
    mutating func setSendRate(_ rate: Int64, now: MonotonicInstant) {
        if rate > 0 {
            if sendBucket == nil { sendBucket = TokenBucket(rate: rate, now: now) }
            sendBucket?.setRate(rate, now: now)
        } else {
            sendBucket = nil
        }
        guard sendDebtEnds != nil else { return }
        sendDebtEnds = sendBucket?.spend(0, now: now)
        set(.sendRate, sendDebtEnds != nil, now)
    }

    private mutating func set(_ reason: Pauses, _ isSet: Bool, _ now: MonotonicInstant) {
        let (before, wasReceivingPaused) = (pauses, isReceivingPaused)
        if isSet { pauses.insert(reason) } else { pauses.remove(reason) }
        if before.isEmpty, !pauses.isEmpty { idle.onPause(now) }
        if !before.isEmpty, pauses.isEmpty { idle.onResume(now) }
        guard floor != nil, isReceivingPaused != wasReceivingPaused else { return }
        if isReceivingPaused { floor?.onPause(now) } else { floor?.onResume(now) }
    }
}

/// The limits on an attempt's receive rate, in bytes per second; 0 is unlimited.
struct ReceiveLimit {
    /// The attempt's own limit.
    var own: Int64
    /// The limit for which the present connection's window was made.
    var window: Int64 = 0

    /// The lower one of its own limit and a share of the limits it has in common with others.
    func rate(sharing share: Int64?) -> Int64 {
        guard let share else { return own }
        return own > 0 ? min(own, share) : share
    }
}
