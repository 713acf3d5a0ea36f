public import XferModel

/// Decides the new state of a lease when its node is dead, is removed, or no longer knows the task.
public enum TakeoverRules {
    /// The reason why the node will not report the task's end.
    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// Its beats stopped. It may still be running behind a broken network.
        case dead
        /// An operator has declared that it never comes back.
        case forgotten
        /// It is running, but its store does not have the task (a restored or a new store).
        case unknownToNode
    }

    /// The new state of the task.
    public enum Verdict: Hashable, Sendable {
        /// Any node of its place may claim it again; the old claim is void.
        case queue
        /// The lease stays until the node returns, because only that node has the bytes.
        case keep
        case end(FleetEnding)
    }

    /// Decides the new state of a lease.
    ///
    /// - Parameters:
    ///   - isRepeatable: true if the task's request may be made twice.
    ///   - hasBegun: true if the node may have made the request.
    ///   - isCancelling: true if a wish to cancel waits for the node.
    ///   - isPublishing: true if the node has a permit to publish on shared storage. Then the next node that claims the
    ///     task checks for the file before anything else is decided.
    public static func judge(
        _ cause: Cause, place: FleetPlace, isRepeatable: Bool, hasBegun: Bool, isCancelling: Bool,
        isPublishing: Bool = false
    ) -> Verdict {
        if isPublishing { return .queue }
        if cause == .dead, place.isPinned { return .keep }
        if hasBegun, !isRepeatable { return .end(.outcomeUnknown) }
        if isCancelling { return .end(.cancelled) }
        // No node will ever serve that place.
        if cause == .forgotten, place.isPinned { return .end(.failed) }
        return .queue
    }
}
