import XferCurl
import XferModel

/// What a run is told when it is made. A class, because it is asked for something at every step: copies would retain all
/// of a task's specification each time.
final class RunContext: Sendable {
    let taskID: TaskID
    let specification: TaskSpecification
    let services: RunServices
    let settings: ManagerSettings
    let control: RunControl
    let trust: RunTrust
    /// The task's tries since its last progress, this run's included.
    let tries: Int
    /// Called once when the last byte is there and the run needs no slot any more.
    let onBodyEnd: @Sendable () async -> Void

    init(
        taskID: TaskID, specification: TaskSpecification, services: RunServices, settings: ManagerSettings,
        control: RunControl, trust: RunTrust, tries: Int, onBodyEnd: @escaping @Sendable () async -> Void
    ) {
        self.taskID = taskID
        self.specification = specification
        self.services = services
        self.settings = settings
        self.control = control
        self.trust = trust
        self.tries = tries
        self.onBodyEnd = onBodyEnd
    }
}

/// What a run learns and changes on its way.
struct RunState: Sendable {
    var transfer: Transfer
    /// Facts about the response and what was made of it, committed with whatever is committed next.
    var outcome: TaskOutcome
    var course: AttemptState

    init(_ task: TransferTask, _ transfer: Transfer) {
        self.transfer = transfer
        outcome = task.outcome
        course = AttemptState(
            maxRates: BandwidthLimits(receive: task.specification.maxReceiveRate, send: task.specification.maxSendRate))
    }
}

/// What attempts leave to the one that made them.
struct AttemptState: Sendable {
    var maxRates = BandwidthLimits()
    /// Events that had no commit of their own yet, in order.
    var pendingEvents: [EventPayload] = []
    /// Whether the server may have begun to act on the last request.
    var requestWasSent = false
}
