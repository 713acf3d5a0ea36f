import NIOConcurrencyHelpers

/// Bytes of answers that wait to be read on all connections of one user. A subscriber that does not read loses its
/// stream, but may still send requests.
final class UserOutput: Sendable {
    private let limit: Int
    private let waiting = NIOLockedValueBox(0)

    init(limit: Int) { self.limit = limit }

    /// Whether so much waits that no further answers are made for this user.
    var isBeyondLimit: Bool { waiting.withLockedValue { $0 > limit } }

    /// Adds to the waiting bytes, or subtracts with a negative number.
    func add(_ bytes: Int) {
        if bytes != 0 { waiting.withLockedValue { $0 += bytes } }
    }

    var refusal: RPCError {
        .beyondLimit(
            "more than \(limit) bytes of answers wait to be read on this user's connections: read them, or close some",
            reason: "too_much_unread", limit: limit)
    }
}
