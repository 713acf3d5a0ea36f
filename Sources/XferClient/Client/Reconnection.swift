import XferProtocol

/// The duration and the pauses of a client's search for a daemon that went away.
struct Reconnection {
    /// The longest duration; nil is unlimited.
    let limit: Duration?
    private var deadline: ContinuousClock.Instant?
    private var nextDelay = Self.firstDelay

    private static let firstDelay = Duration.milliseconds(50)
    private static let longestDelay = Duration.seconds(2)

    init(limit: Duration?) { self.limit = limit }

    /// Records that the daemon answers: the next failure begins the delays again.
    mutating func reset() { self = Reconnection(limit: limit) }

    /// The wait before the next attempt, at most `bound`.
    ///
    /// - Throws: `error` itself if a restart of the daemon does not remove it or the limit is reached.
    mutating func delay(after error: any Error, atMost bound: Duration? = nil) throws -> Duration {
        guard Self.mayPass(error) else { throw error }
        let now = ContinuousClock.now
        let end = deadline ?? limit.map { now + $0 }
        deadline = end
        if let end, now >= end { throw error }
        defer { nextDelay = min(nextDelay * 2, Self.longestDelay) }
        return [nextDelay, bound, end.map { $0 - now }].compactMap(\.self).min() ?? nextDelay
    }

    /// True if a restart of the daemon or a repaired network can end it.
    static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case let error as NoDaemonError: !error.tried.contains { $0.error.isRejection }
        case CallError.connection(let error): error.isLoss
        case CallError.refused(let failure): failure.knownCode == .shuttingDown
        default: false
        }
    }
}

extension ConnectionError {
    /// True if a connection was lost, or the daemon fell silent.
    var isLoss: Bool {
        switch self {
        case .closed, .timedOut, .system: true
        default: false
        }
    }

    /// True if the daemon does not accept this client, for example because of its token. The statuses 502 to 504 come
    /// from a proxy or a full daemon.
    fileprivate var isRejection: Bool {
        if case .rejected(_, let status, _) = self { !(502...504).contains(status) } else { false }
    }
}
