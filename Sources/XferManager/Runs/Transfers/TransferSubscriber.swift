import XferCore
import XferModel

/// A task's run as its transfer sees it: one of those who wait for the body.
protocol TransferSubscriber: TaskRun {
    /// Looks at the head of a response whose body comes; false when the task does not want it.
    func take(_ news: ResponseUpdate) async -> Bool
    /// Notes the head of a response that brings nothing.
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
