public import XferModel

/// Decides the end of a task whose node had a permit to publish on shared storage and was taken over.
///
/// The next node that claims the task has removed the partial file by its name before it calls this, so the previous
/// node can no longer publish; a file under the final name stays.
public enum PermitRules {
    /// The action of the claiming node.
    public enum Verdict: Hashable, Sendable {
        /// The previous node has published the file: report that.
        case published
        /// There is no such file: transfer it.
        case transfer
        /// There is no such file, and the task is not to be transferred again.
        case end(FleetEnding)
    }

    /// Decides the end of the task.
    ///
    /// - Parameters:
    ///   - isFound: true if the recorded file has a final name.
    ///   - wasCancelling: true if a wish to cancel waited for the previous node.
    public static func judge(isFound: Bool, isRepeatable: Bool, wasCancelling: Bool) -> Verdict {
        if isFound { return .published }
        if wasCancelling { return .end(.cancelled) }
        return isRepeatable ? .transfer : .end(.outcomeUnknown)
    }

    /// The result for a staged task that its node's daemon does not publish.
    public enum Refusal: Hashable, Sendable {
        /// The task fails, since another node cannot publish it either.
        case fail
        /// This node declines the task; another one may be able to publish it.
        case decline
        /// The refusal is temporary: the request is repeated later.
        case wait
    }

    /// The number of requests to a daemon to publish a file before another node gets the task.
    public static let mostTries = 10

    /// Decides the step after a daemon has refused to publish.
    ///
    /// - Parameters:
    ///   - reason: the daemon's reason to refuse to publish; nil if that is not a failure of a task.
    ///   - tries: the number of its refusals, this one included.
    public static func judge(_ reason: FailureReason?, tries: Int) -> Refusal {
        switch reason {
        case .destinationExists, .nameRefused, .checksumMismatch, .lengthMismatch: .fail
        case .insufficientSpace, .fileMoveFailed, nil: tries < mostTries ? .wait : .decline
        default: .decline
        }
    }
}
