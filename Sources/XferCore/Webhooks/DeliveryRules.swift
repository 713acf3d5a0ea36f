public import XferModel

/// Decides the next step after an attempt to deliver an event to a webhook, and which deliveries are attempted at the
/// same time.
///
/// A receiver that does not accept a delivery is paused: until the pause has ended nothing is sent to it, and then one
/// delivery is attempted. So a long outage costs few requests, however many deliveries wait. The refused delivery waits
/// longer than the receiver, so one that is always refused does not delay the others.
public enum DeliveryRules {
    /// The time for which a delivery is attempted.
    public static let patience = Duration.seconds(3 * 86_400)
    /// Pauses of a receiver.
    public static let pause = RetryPolicy(base: .seconds(1), cap: .seconds(300))
    /// Waits of a delivery.
    public static let backoff = RetryPolicy(base: .seconds(1), cap: .seconds(900))
    /// The longest wait or pause, also for `Retry-After`.
    public static let longestWait = Duration.seconds(RetryPolicy.longestRetryAfter)
    /// The highest number of deliveries that wait for one webhook. If there are more, the oldest are discarded.
    public static let maxPending = 100_000
    /// The highest number of failed deliveries that are stored, and the time for which they are stored.
    public static let maxFailed = 10_000
    public static let keepFailed = Duration.seconds(604_800)

    public enum Decision: Hashable, Sendable {
        case delivered
        /// The delivery is retried at `time`, and nothing is sent to the receiver before `pausedUntil`.
        case tryAgain(at: Timestamp, pausedUntil: Timestamp)
        /// The delivery has failed permanently.
        case giveUp(pausedUntil: Timestamp)
    }

    /// True if a receiver accepts the delivery with this status.
    public static func isAccepted(_ status: Int) -> Bool { (200...299).contains(status) }

    /// Decides the next step after an attempt.
    ///
    /// Every status except 2xx is retried, also 4xx: a receiver that is being installed, or whose secret was changed,
    /// answers with them for a while. 410 means that the receiver wants no more deliveries.
    ///
    /// - Parameters:
    ///   - status: of the response; nil when there was none.
    ///   - tries: attempts at the delivery, this one included.
    ///   - failures: failures of the receiver since it last accepted a delivery, this one included.
    public static func decide(
        status: Int?, retryAfter: Int64? = nil, tries: Int, failures: Int, createdAt: Timestamp, at now: Timestamp,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        if let status, isAccepted(status) { return .delivered }
        let pausedUntil = now.advanced(by: pause.delay(tries: failures, retryAfter: retryAfter, using: &random))
        let next = now.advanced(by: backoff.delay(tries: tries, retryAfter: retryAfter, using: &random))
        guard status != 410, createdAt.duration(to: next) <= patience else { return .giveUp(pausedUntil: pausedUntil) }
        return .tryAgain(at: max(next, pausedUntil), pausedUntil: pausedUntil)
    }
}

/// The deliveries that are being attempted. They do not use the slots of tasks.
public struct DeliverySlots: Hashable, Sendable {
    /// The highest number of deliveries that are attempted at the same time: all, and those to one host.
    public static let maxAtOnce = 32
    /// The highest number of deliveries to a host at once: a receiver that takes 100 ms for each gets 160 a second.
    public static let maxPerHost = 16

    private var countByHost: [String: Int] = [:]
    private var countByWebhook: [String: Int] = [:]
    public private(set) var count = 0

    public init() {}

    /// True if a delivery may be attempted now.
    ///
    /// - Parameter isFailing: true if the receiver did not accept the last delivery. Then one is attempted at a time.
    public func mayStart(webhook: String, host: String, isFailing: Bool) -> Bool {
        count < Self.maxAtOnce && countByHost[host, default: 0] < Self.maxPerHost
            && (!isFailing || countByWebhook[webhook] == nil)
    }

    public mutating func start(webhook: String, host: String) {
        count += 1
        countByHost[host, default: 0] += 1
        countByWebhook[webhook, default: 0] += 1
    }

    /// Ends the delivery of a `start`.
    public mutating func end(webhook: String, host: String) {
        count -= 1
        Self.decrement(&countByHost, host)
        Self.decrement(&countByWebhook, webhook)
    }

    private static func decrement(_ counts: inout [String: Int], _ key: String) {
        let rest = counts[key, default: 0] - 1
        counts[key] = rest > 0 ? rest : nil
    }
}
