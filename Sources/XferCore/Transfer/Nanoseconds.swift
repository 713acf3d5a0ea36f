import XferModel

/// Fast arithmetic for computations with every chunk that arrives: `Duration` computes with 128 bits.
extension MonotonicInstant {
    func advanced(nanoseconds count: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: nanoseconds.addingSaturated(count))
    }
}

extension Duration {
    /// Whole microseconds, in nanoseconds; clamped to a century.
    var inNanoseconds: Int64 { min(max(wholeMicroseconds, -Self.century), Self.century) * 1000 }

    private static var century: Int64 { 100 * 366 * 86_400 * 1_000_000 }
}
