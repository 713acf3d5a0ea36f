public import XferModel

/// Decides which origins are asked with `Expect: 100-continue` (RFC 9110 §10.1.1) before a large content is sent to
/// them.
///
/// Asking saves sending a content in vain to a server that refuses it. A server that answers 417, or nothing for a
/// second, costs time instead: it is not asked again for a while.
public struct ContinueMemory: Sendable {
    /// Smallest content that is announced so, in bytes.
    public static let smallestContent: Int64 = 1 << 20
    /// How long the client waits for an answer.
    public static let patience = Duration.seconds(1)
    /// How long an origin is not asked again.
    static let rest = Duration.seconds(600)
    /// Most origins that are remembered; beyond it the oldest is forgotten.
    static let capacity = 256

    /// When each may be asked again.
    private var resting: [Origin: MonotonicInstant] = [:]

    public init() {}

    public func mayAsk(_ origin: Origin, now: MonotonicInstant) -> Bool { resting[origin].map { $0 <= now } ?? true }

    /// The origin does not support the expectation: it is not asked again for `rest`.
    public mutating func recordSilence(of origin: Origin, now: MonotonicInstant) {
        resting[origin] = nil
        if resting.count >= Self.capacity, let oldest = resting.min(by: { $0.value < $1.value })?.key {
            resting[oldest] = nil
        }
        resting[origin] = now.advanced(by: Self.rest)
    }
}
