import Glibc

/// Waits until one of several descriptors can be read, or time is up (poll(2)).
enum Readiness {
    /// - Parameter timeout: nil waits for ever.
    /// - Returns: the descriptors that can be read or were closed by the other side; empty when time is up or a signal
    ///   came.
    static func wait(for descriptors: [Int32], timeout: Duration?) -> Set<Int32> {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = timeout.map { span -> Int32 in
            let (seconds, attoseconds) = max(.zero, span).components
            // Rounded up, so that a deadline has passed when this returns.
            return Int32(
                clamping: min(seconds, 1_000_000) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        guard poll(&entries, nfds_t(entries.count), milliseconds ?? -1) > 0 else { return [] }
        return Set(entries.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Now, on the clock that waits are counted on.
    static var now: ContinuousClock.Instant { ContinuousClock().now }
}
