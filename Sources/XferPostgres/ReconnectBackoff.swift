/// The time of the next attempt to connect after failed ones: pauses from 0.1 s on, doubled up to 5 s.
struct ReconnectBackoff {
    private var failure: (error: PostgresError, until: ContinuousClock.Instant)?
    private var pause: Duration = .milliseconds(100)

    /// The last error, during the pause after it; nil afterwards.
    func pending(at now: ContinuousClock.Instant) -> PostgresError? {
        guard let failure, now < failure.until else { return nil }
        return failure.error
    }

    mutating func fail(_ error: PostgresError, at now: ContinuousClock.Instant) {
        failure = (error, now + pause)
        pause = min(pause * 2, .seconds(5))
    }
}
