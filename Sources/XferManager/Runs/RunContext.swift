import XferCurl
import XferModel

/// The inputs of a run. It is a class, because every step reads it: each copy of a struct would retain the parts of the
/// specification.
final class RunContext: Sendable {
    let taskID: TaskID
    let specification: TaskSpecification
    let services: RunServices
    let settings: ManagerSettings
    let control: RunControl
    let trust: RunTrust
    /// The task's attempts since its last progress, including this run's.
    let tries: Int
    /// Called once when the last byte has arrived and the run no longer needs a slot.
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

/// The facts that a run learns and changes.
struct RunState: Sendable {
    var transfer: Transfer
    /// Facts about the response and the file, committed with the next commit.
    var outcome: TaskOutcome
    var attemptState: AttemptState

    init(_ task: TransferTask, _ transfer: Transfer) {
        self.transfer = transfer
        outcome = task.outcome
        attemptState = AttemptState(
            maxRates: BandwidthLimits(receive: task.specification.maxReceiveRate, send: task.specification.maxSendRate))
    }
}

/// The facts that an attempt leaves to the `AttemptMaker`.
struct AttemptState: Sendable {
    var maxRates = BandwidthLimits()
    /// Events that are not committed yet, in order.
    var pendingEvents: [EventPayload] = []
    /// True if the server may have begun to act on the last request.
    var requestWasSent = false
    /// True if further attempts use HTTP/1.1; see `AttemptOutcome.Result.restartWithHTTP1`.
    var usesHTTP1 = false
    /// An attempt that a brief run has begun; the first attempt into a file continues it.
    var begun: AttemptHandle?
}
