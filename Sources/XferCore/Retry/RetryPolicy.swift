public import XferModel

/// Decides if and when a task whose run failed is retried: after a wait for the missing resource (space, network), or
/// with exponential backoff and full jitter.
///
/// Full jitter after "Exponential Backoff And Jitter" (AWS Architecture Blog): the delay is drawn evenly from zero to
/// the exponential bound, so that many tasks that failed together are not retried together.
public struct RetryPolicy: Hashable, Sendable {
    /// The upper bound of the first delay.
    public var base: Duration
    /// The upper bound of every delay except a server's `Retry-After`.
    public var cap: Duration
    /// The time between two checks of missing space or a missing directory.
    public var probeInterval: Duration

    public init(base: Duration = .seconds(1), cap: Duration = .seconds(300), probeInterval: Duration = .seconds(5)) {
        self.base = base
        self.cap = cap
        self.probeInterval = probeInterval
    }

    public enum Decision: Hashable, Sendable {
        case wait(Wait)
        case fail(TransferError)
        /// The task returns to the queue at once; the run does not count as an attempt.
        case again
    }

    /// Decides after a run of `task` failed with `error`.
    ///
    /// - Parameters:
    ///   - error: as `SpaceWaitRules.counted` and `Refusal.counted` return it.
    ///   - requestWasSent: true if the server may have begun to act on the request.
    ///   - network: the condition of the network since the run began.
    ///   - othersOfHost: see `Refusal.meaning`.
    public func decide(
        after error: TransferError, of task: TransferTask, at now: Timestamp, requestWasSent: Bool = false,
        network: NetworkCondition = .online, othersOfHost: Int = 0, using random: inout some RandomNumberGenerator
    ) -> Decision {
        let refusal = Refusal.meaning(of: error, to: task, othersOfHost: othersOfHost)
        let decision = waitOrFail(after: error, refusal, of: task, at: now, network, using: &random)
        if case .fail = decision { return decision }
        guard requestWasSent, !RepetitionRules.mayRepeat(task.specification, after: error) else { return decision }
        return .fail(RepetitionRules.outcomeUnknown(after: error, of: task.specification.request))
    }

    private func waitOrFail(
        after error: TransferError, _ refusal: Refusal?, of task: TransferTask, at now: Timestamp,
        _ network: NetworkCondition, using random: inout some RandomNumberGenerator
    ) -> Decision {
        switch error.reason {
        case .insufficientSpace:
            return .wait(
                Wait(.insufficientSpace, until: now.advanced(by: SpaceWaitRules.delay(afterRun: error.space, self))))
        case .destinationUnavailable:
            return .wait(Wait(.destinationUnavailable, until: now.advanced(by: probeInterval)))
        case .outOfDescriptors:
            return .wait(Wait(.outOfDescriptors, until: now.advanced(by: probeInterval)))
        default:
            break
        }
        let isLastDoubt = (error.doubts ?? 0) > Refusal.mostDoubts
        switch refusal {
        case .expired: return .wait(Wait(.sourceExpired))
        case .doubtful where isLastDoubt: return .fail(error)
        case .fewerAtOnce where isLastDoubt && Refusal.isForRoom(error, to: task): return .fail(error)
        case .passing, .doubtful, .fewerAtOnce: break
        case .final, nil: guard error.isRetriable else { return .fail(error) }
        }
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
        var delay = delay(tries: task.attempts, retryAfter: error.retryAfter, using: &random)
        if error.httpStatus == 429 {
            delay = max(delay, HostCooldownRules.duration(after: error, tries: task.attempts, using: &random))
        }
        let start = task.lastProgressAt ?? now
        func isInTime(_ delay: Duration) -> Bool {
            start.duration(to: now.advanced(by: delay)) <= .seconds(limits.retryFor)
        }
        if refusal == .fewerAtOnce, Refusal.isForRoom(error, to: task), isInTime(Refusal.longestForRoom) {
            delay = max(delay, Refusal.longestForRoom)
        }
        guard isInTime(delay) else { return .fail(error) }
        return .wait(Wait(.retry, until: now.advanced(by: delay)))
    }

    /// The delay after `tries` attempts without progress, 1 upward; never shorter than the server's `Retry-After`.
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
