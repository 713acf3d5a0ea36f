import XferCore
import XferModel

/// A task's run as its transfer sees it: one of the members that wait for the body.
protocol TransferSubscriber: TaskRun {
    /// Handles the head of a response whose body is arriving. Returns false if the task does not want the body.
    func take(_ news: ResponseUpdate) async -> Bool
    /// Records the head of a response that brings no body.
    func note(_ head: ResponseHead, from url: HTTPURL?)
}

extension TransferSubscriber {
    var maxRates: BandwidthLimits { course.maxRates }

    func add(_ events: [EventPayload]) { pendingEvents += events }

    func takeNews() -> SharedTransfer.MemberNews {
        defer { pendingEvents = [] }
        return SharedTransfer.MemberNews(events: pendingEvents, outcome: outcome)
    }
}
