import XferCore
import XferModel
import XferStore

/// The effect of an attempt on its delivery and on the receiver's state.
struct DeliveryEnd: Sendable {
    var status: Int?
    /// Seconds that the receiver requests to wait.
    var retryAfter: Int64?
    /// The reason why the receiver has not accepted it; nil if it has.
    var failure: String?
    var begunAt: Timestamp
    /// False while the clock was changed: the age of a delivery is unknown then.
    var isAgeKnown: Bool
    /// True if its deliveries are sent in the order of their events, however often they are refused.
    var keepsOrder: Bool
    /// The seed for the jitter of waits.
    var seed: UInt64
    var now: Timestamp
}

/// The log message for a committed attempt.
enum DeliveryLogEntry: Sendable {
    case delivered(wasFailing: Bool)
    /// The first failed attempt in a row.
    case failing
    case failingStill
    case givenUp
}

extension DeliveryTable where Store == StoreTransaction {
    /// Records the end of an attempt for each delivery that it sent. Returns the entry that matters most: that one was
    /// given up, or else the first one's.
    func settle(_ deliveries: [WebhookDelivery], _ end: DeliveryEnd) throws(StoreError) -> DeliveryLogEntry? {
        var entry: DeliveryLogEntry?
        for delivery in deliveries {
            let settled = try settle(delivery, end)
            if case .givenUp = settled { entry = settled } else if entry == nil { entry = settled }
        }
        return entry
    }

    /// Records the end of an attempt for one delivery.
    func settle(_ delivery: WebhookDelivery, _ end: DeliveryEnd) throws(StoreError) -> DeliveryLogEntry {
        var receiver = try receiverState(ofWebhook: delivery.webhook)
        let wasFailing = receiver.failures > 0
        // Tries that were made side by side say the same: only the first counts. A time in the future is of a clock
        // that was set back.
        let isNewFailure = receiver.lastFailedAt.map { $0 <= end.begunAt || $0 > end.now } ?? true
        var random = SeededGenerator(seed: end.seed)
        let decision = DeliveryRules.decide(
            status: end.status, retryAfter: end.retryAfter, tries: delivery.attempts.addingSaturated(1),
            failures: isNewFailure ? receiver.failures.addingSaturated(1) : max(1, receiver.failures),
            createdAt: end.isAgeKnown ? delivery.createdAt : end.now, at: end.now, using: &random)
        let pausedUntil: Timestamp
        switch decision {
        case .delivered:
            try remove(delivery.id)
            (receiver.failures, receiver.pausedUntil, receiver.lastDeliveredAt) = (0, nil, end.now)
            try setReceiverState(receiver, ofWebhook: delivery.webhook)
            return .delivered(wasFailing: wasFailing)
        case .tryAgain(let time, let pause):
            if end.keepsOrder {
                try countAttempt(at: delivery.id)
            } else {
                try postpone(delivery.id, until: time)
            }
            pausedUntil = pause
        case .giveUp(let pause):
            try fail(delivery.id, at: end.now)
            pausedUntil = pause
        }
        if isNewFailure {
            receiver.failures = receiver.failures.addingSaturated(1)
            receiver.pausedUntil = pausedUntil
        }
        receiver.lastFailedAt = end.now
        receiver.lastFailure = end.failure
        try setReceiverState(receiver, ofWebhook: delivery.webhook)
        if case .giveUp = decision { return .givenUp }
        return wasFailing ? .failingStill : .failing
    }
}
