public import XferModel

/// Decides which answers make other tasks of a host wait, and for how long.
///
/// 429 is about the client (RFC 6585 §4) and stops the whole host. 503 with `Retry-After` is about a URL until a second
/// URL of the host gets it, too (RFC 9110 §15.6.4): one page under maintenance says nothing about the other files.
public enum HostCooldownRules {
    /// The tasks that an answer makes wait.
    public enum Scope: Hashable, Sendable, CaseIterable {
        /// Only the task waits, with its ordinary delays.
        case none
        /// The URL, and so the task, waits. Its host waits as well once another URL of the host waits for the same
        /// server.
        case url
        /// Every task of the host waits.
        case host
    }

    /// The longest cooldown that no server has requested.
    public static let longestOwn = Duration.seconds(300)

    /// The tasks that this answer makes wait. A proxy's answer is not the host's. A proxy that the task has chosen may
    /// have answered in the host's place. Neither is a reason for other tasks to wait.
    public static func scope(of error: TransferError, to specification: TaskSpecification) -> Scope {
        guard error.proxy == nil, !isForgeable(error, to: specification) else { return .none }
        guard error.reason == .httpStatus, error.isRetriable, error.httpStatus == 429 || requestsWait(error) else {
            return .none
        }
        let isOfHost = error.host.map { $0 == specification.request.url.hostKey } ?? true
        if isOfHost { return error.httpStatus == 429 ? .host : .url }
        // A mirror is another host, whose own tasks are in other lanes. Behind a redirect it may be one of many.
        return specification.mirrors.isEmpty ? .url : .none
    }

    /// True if an earlier answer, which still makes its task wait, is of the same server about another URL.
    public static func confirms(_ earlier: TransferTask, _ error: TransferError, to task: TransferTask) -> Bool {
        guard earlier.id != task.id, earlier.specification.request.url != task.specification.request.url,
            let known = earlier.error, scope(of: known, to: earlier.specification) != .none
        else { return false }
        return known.host == error.host
    }

    /// The task whose answer keeps a host cool once the task that caused the cooldown has ended; nil if none does.
    ///
    /// - Parameter refused: tasks of the host that wait because of an answer, the longest wait first.
    public static func successor(among refused: [TransferTask]) -> TransferTask? {
        refused.first { task in
            guard let error = task.error else { return false }
            return switch scope(of: error, to: task.specification) {
            case .none: false
            case .host: true
            case .url: refused.contains { confirms($0, error, to: task) }
            }
        }
    }

    /// True if the answer may come from the task's own proxy or Unix socket instead of the host.
    private static func isForgeable(_ error: TransferError, to specification: TaskSpecification) -> Bool {
        let request = specification.request
        return error.isRelayed == true && (request.proxy != nil || request.connections.unixSocket != nil)
    }

    /// The time for which the host's tasks wait.
    ///
    /// - Parameter tries: the task's attempts without progress, 1 upward.
    public static func duration(
        after error: TransferError, tries: Int, using random: inout some RandomNumberGenerator
    ) -> Duration {
        guard requestsWait(error) else { return ownDelay(tries: tries, using: &random) }
        return .seconds(min(error.retryAfter ?? 0, RetryPolicy.longestRetryAfter))
    }

    /// The delay after a 429 without a time: between half and the whole of a bound, which is 1 s and doubles with each
    /// attempt up to `longestOwn`. Many servers count the requests of a second. The refused task is mostly the host's
    /// first one to send a request again, so the delay grows for all of them.
    private static func ownDelay(tries: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let bound = min(longestOwn, .seconds(1 << min(max(tries, 1) - 1, 9))).wholeMicroseconds
        return .microseconds(Int64.random(in: bound / 2...bound, using: &random))
    }

    private static func requestsWait(_ error: TransferError) -> Bool {
        error.httpStatus.map { $0 == 429 || $0 == 503 } == true && (error.retryAfter ?? 0) > 0
    }
}
