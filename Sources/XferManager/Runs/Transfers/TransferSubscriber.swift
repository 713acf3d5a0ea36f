import XferCore
import XferModel

/// A task's run as its transfer sees it: one of the members that wait for the body.
protocol TransferSubscriber: TaskRun {
    /// Handles the head of a response whose body is arriving. Returns false if the task does not want the body.
    func apply(_ update: ResponseUpdate) async -> Bool
    /// Records the head of a response that brings no body.
    func record(_ head: ResponseHead, from url: HTTPURL?)
}

/// Events and facts that a member has not committed yet.
struct MemberChanges: Sendable {
    var events: [EventPayload]
    var outcome: TaskOutcome
}

extension TransferSubscriber {
    var maxRates: BandwidthLimits { course.maxRates }

    func add(_ events: [EventPayload]) { pendingEvents += events }

    /// Returns what the transfer commits for this member, which then has no pending events.
    func removeChanges() -> MemberChanges {
        defer { pendingEvents = [] }
        return MemberChanges(events: pendingEvents, outcome: outcome)
    }
}
