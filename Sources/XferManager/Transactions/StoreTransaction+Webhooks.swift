import XferCore
import XferModel
import XferStore

/// The effect of an attempt on its delivery and on the receiver's state.
struct DeliveryEnd: Sendable {
    var status: Int?
    /// Seconds that the receiver requests to wait.
    var retryAfter: Int64?
    /// Why the receiver has not accepted it; nil if it has.
    var failure: String?
    var begunAt: Timestamp
    /// The delivery's age counts from then.
    var createdAt: Timestamp
    /// For the jitter of waits.
    var seed: UInt64
    var now: Timestamp
}

/// The log message for a committed attempt.
enum DeliveryNews: Sendable {
    case delivered(wasFailing: Bool)
    /// The first try in a row that failed.
    case failing
    case failingStill
    case givenUp
}

extension StoreTransaction {
    /// Records how a try ended.
    func settle(_ delivery: WebhookDelivery, _ end: DeliveryEnd) throws(StoreError) -> DeliveryNews {
        var standing = try standing(ofWebhook: delivery.webhook)
        let wasFailing = standing.failures > 0
        // Tries that were made side by side say the same: only the first counts. A time in the future is of a clock
        // that was set back.
        let isNews = standing.lastFailedAt.map { $0 <= end.begunAt || $0 > end.now } ?? true
        var random = SeededGenerator(seed: end.seed)
        let decision = DeliveryRules.decide(
            status: end.status, retryAfter: end.retryAfter, tries: delivery.attempts.addingSaturated(1),
            failures: isNews ? standing.failures.addingSaturated(1) : max(1, standing.failures),
            createdAt: end.createdAt, at: end.now, using: &random)
        let pausedUntil: Timestamp
        switch decision {
        case .delivered:
            try removeDelivery(delivery.id)
            (standing.failures, standing.pausedUntil, standing.lastDeliveredAt) = (0, nil, end.now)
            try setStanding(standing, ofWebhook: delivery.webhook)
            return .delivered(wasFailing: wasFailing)
        case .tryAgain(let time, let pause):
            try postponeDelivery(delivery.id, until: time)
            pausedUntil = pause
        case .giveUp(let pause):
            try failDelivery(delivery.id, at: end.now)
            pausedUntil = pause
        }
        if isNews {
            standing.failures = standing.failures.addingSaturated(1)
            standing.pausedUntil = pausedUntil
        }
        standing.lastFailedAt = end.now
        standing.lastFailure = end.failure
        try setStanding(standing, ofWebhook: delivery.webhook)
        if case .giveUp = decision { return .givenUp }
        return wasFailing ? .failingStill : .failing
    }
}
