public import XferModel

/// Decides which origins get `Expect: 100-continue` (RFC 9110 §10.1.1) before large content is sent to them.
///
/// The expectation avoids sending content in vain to a server that refuses it. With a server that answers 417, or
/// nothing for a second, it costs time instead: such an origin does not get it for a while.
public struct ContinueMemory: Sendable {
    /// The smallest content that is announced with `Expect: 100-continue`, in bytes.
    public static let smallestContent: Int64 = 1 << 20
    /// The time for which the client waits for an answer.
    public static let patience = Duration.seconds(1)
    /// The time for which such an origin does not get the expectation.
    static let rest = Duration.seconds(600)
    /// The highest number of origins that are recorded; beyond it the oldest is removed.
    static let capacity = 256

    /// The end of that time for each origin.
    private var resting: [Origin: MonotonicInstant] = [:]

    public init() {}

    public func mayExpect(_ origin: Origin, now: MonotonicInstant) -> Bool { resting[origin].map { $0 <= now } ?? true }

    /// Records that the origin does not support the expectation, and does not get it for `rest`.
    public mutating func recordSilence(of origin: Origin, now: MonotonicInstant) {
        resting[origin] = nil
        if resting.count >= Self.capacity, let oldest = resting.min(by: { $0.value < $1.value })?.key {
            resting[oldest] = nil
        }
        resting[origin] = now.advanced(by: Self.rest)
    }
}
