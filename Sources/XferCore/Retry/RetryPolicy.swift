public import XferModel

/// Whether and when a task whose run failed is tried again: after a wait for what was missing (space, network), or
/// with exponential backoff and full jitter.
///
/// Full jitter after "Exponential Backoff And Jitter" (AWS Architecture Blog): the delay is drawn evenly from zero to
/// the exponential bound, so that many tasks that failed together do not come back together.
public struct RetryPolicy: Hashable, Sendable {
    /// Bound of the first delay.
    public var base: Duration
    /// Bound of every delay but a server's `Retry-After`.
    public var cap: Duration
    /// How long a wait for space or for a directory lasts before it is looked at again.
    public var probeInterval: Duration

    public init(base: Duration = .seconds(1), cap: Duration = .seconds(300), probeInterval: Duration = .seconds(5)) {
        self.base = base
        self.cap = cap
        self.probeInterval = probeInterval
    }

    public enum Decision: Hashable, Sendable {
        case wait(Wait)
        case fail(TransferError)
        /// Back to the queue at once; it does not count as a try.
        case again
    }

    /// Decides after a run of `task` failed with `error`.
    ///
    /// - Parameters:
    ///   - requestWasSent: whether the server may have begun to act on the request.
    ///   - network: the condition of the network since the run began.
    public func decide(
        after error: TransferError, of task: TransferTask, at now: Timestamp, requestWasSent: Bool = false,
        network: NetworkCondition = .online, using random: inout some RandomNumberGenerator
    ) -> Decision {
        let decision = waitOrFail(after: error, of: task, at: now, network, using: &random)
        if case .fail = decision { return decision }
        guard requestWasSent, !RepetitionRules.mayRepeat(task.specification, after: error) else { return decision }
        return .fail(RepetitionRules.outcomeUnknown(after: error, of: task.specification.request))
    }

    private func waitOrFail(
        after error: TransferError, of task: TransferTask, at now: Timestamp, _ network: NetworkCondition,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        switch error.reason {
        case .insufficientSpace:
            return .wait(Wait(.insufficientSpace, until: now.advanced(by: probeInterval)))
        case .destinationUnavailable:
            return .wait(Wait(.destinationUnavailable, until: now.advanced(by: probeInterval)))
        case .outOfDescriptors:
            return .wait(Wait(.outOfDescriptors, until: now.advanced(by: probeInterval)))
        default:
            break
        }
        if SourceExpiry.isExpired(task, after: error) { return .wait(Wait(.sourceExpired)) }
        guard error.isRetriable else { return .fail(error) }
        switch network.explanation(of: error) {
        case .waits:
            guard network.hasNeighbours else { return .wait(Wait(.network)) }
            let probe = Duration.microseconds(
                Int64.random(in: (cap / 2).wholeMicroseconds...cap.wholeMicroseconds, using: &random))
            return .wait(Wait(.network, until: now.advanced(by: probe)))
        case .again: return .again
        case nil: break
        }
        let limits = task.specification.retry
        if let maxRetries = limits.maxRetries, task.attempts > maxRetries { return .fail(error) }
        let delay = delay(tries: task.attempts, retryAfter: error.retryAfter, using: &random)
        let start = task.lastProgressAt ?? now
        guard start.duration(to: now.advanced(by: delay)) <= .seconds(limits.retryFor) else { return .fail(error) }
        return .wait(Wait(.retry, until: now.advanced(by: delay)))
    }

    /// The delay after `tries` tries without progress, 1 upward; never shorter than the server's `Retry-After`.
    public func delay(tries: Int, retryAfter: Int64?, using random: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(tries - 1, 0), 20)
        let bound = min(cap, base * (1 << doublings))
        let drawn = Duration.microseconds(Int64.random(in: 0...max(0, bound.wholeMicroseconds), using: &random))
        guard let retryAfter else { return drawn }
        return max(drawn, .seconds(min(max(retryAfter, 0), Self.longestRetryAfter)))
    }

    /// The longest `Retry-After` that is honoured, in seconds (RFC 9110 §10.2.3 sets no bound).
    public static let longestRetryAfter: Int64 = 3600
}

/// Tells a signed URL that expired half way from a server that refuses.
public enum SourceExpiry {
    /// Whether the server refuses to continue a download that began without credentials: then the URL itself carried
    /// the permission, and it has expired. With credentials, a 401 or 403 is about them, not about the URL.
    public static func isExpired(_ task: TransferTask, after error: TransferError) -> Bool {
        let (specification, request) = (task.specification, task.specification.request)
        guard let status = error.httpStatus, status == 401 || status == 403 else { return false }
        return specification.kind == .download && task.received > 0 && request.credential == nil
            && !request.usesProfileSecrets && request.headers.firstValue(named: "Authorization") == nil
    }
}
