public import XferModel

/// Which origins are asked with `Expect: 100-continue` (RFC 9110 §10.1.1) before a large content is sent to them.
///
/// Asking saves sending in vain to a server that refuses. A server that answers 417, or says nothing for a second, costs
/// time instead: it is not asked again for a while.
public struct ContinueMemory: Sendable {
    /// Content of that many bytes is worth a question.
    public static let smallestContent: Int64 = 1 << 20
    /// How long an answer is waited for.
    public static let patience = Duration.seconds(1)
    /// How long an origin is not asked again.
    static let rest = Duration.seconds(600)
    /// Most origins that are remembered; beyond it the oldest is forgotten.
    static let capacity = 256

    /// When each may be asked again.
    private var resting: [Origin: MonotonicInstant] = [:]

    public init() {}

    public func mayAsk(_ origin: Origin, now: MonotonicInstant) -> Bool { resting[origin].map { $0 <= now } ?? true }

    /// The origin does not know the question.
    public mutating func noteSilence(of origin: Origin, now: MonotonicInstant) {
        resting[origin] = nil
        if resting.count >= Self.capacity, let oldest = resting.min(by: { $0.value < $1.value })?.key {
            resting[oldest] = nil
        }
        resting[origin] = now.advanced(by: Self.rest)
    }
}
