import Logging
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore

/// What the scheduler tells the other parts of the manager. The calls do not wait.
protocol RunSchedulerDelegate: AnyObject, Sendable {
    /// The bytes of these transfers are to be deleted, unless a task still holds them.
    func discard(_ transfers: [TransferID], undoing: Bool)
    /// Tasks may wait for a network that is there.
    func wakeWaitingForNetwork()
    func onRunningCount(_ count: Int)
    /// A task has ended or changed its state; retention may have to do something.
    func onRunEnded()
}

/// Starts runs, stops them, and records their ends. It alone knows which runs and transfers are live.
///
/// The invariant: a task is `running` in the database only while this actor has its run, or while a pass is between the
/// start's commit and its launch. The commit suspends the actor, so a verb, a changed rate or a policy may concern a start
/// that is committed and has no run yet. Every such call is answered by `runs` if the run is there; else, while a pass is
/// under way, it is recorded in `passes` and applied by `launch`. Nothing outside this actor has to know of that.
///
/// Every change follows one order: decide within a store transaction, commit, run the action.
actor RunScheduler: ManagerPart {
    nonisolated let context: ManagerContext
    /// The network as `NetworkFollower` knows it.
    nonisolated let reachability: NIOLockedValueBox<Reachability>
    /// Tasks whose staged files are being published by `StagedPublishing`.
    nonisolated let beingPublished: NIOLockedValueBox<Set<TaskID>>
    weak var delegate: (any RunSchedulerDelegate)?
    /// Decides which task is next, within limits and holds.
    var machine: SchedulerStateMachine
    /// Live runs only: a queued task takes no memory.
    var runs: [TaskID: LiveRun] = [:]
    /// The transfers of these runs.
    var transfers: [TransferID: LiveTransfer] = [:]
    /// Transfers whose files and then rows are being deleted. No task is started on them.
    var transfersBeingDeleted: Set<TransferID> = []
    var passes = PassState()
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    /// Fires when the first wait or cooldown ends or a condition is due.
    var timer = WakeTimer()
    /// Samples progress while runs live.
    var ticker: Task<Void, Never>?
    /// Resumed when that run has ended.
    var endWaiters: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    /// Resumed when the last run has ended.
    var drainWaiters: [CheckedContinuation<Void, Never>] = []

    init(
        context: ManagerContext, reachability: NIOLockedValueBox<Reachability>,
        beingPublished: NIOLockedValueBox<Set<TaskID>>
    ) {
        self.context = context
        self.reachability = reachability
        self.beingPublished = beingPublished
        machine = SchedulerStateMachine(limits: context.settings.withLockedValue(\.scheduler))
    }

    func setDelegate(_ delegate: any RunSchedulerDelegate) { self.delegate = delegate }

    /// Nothing starts until `release` of the same hold.
    func hold(_ hold: SchedulerStateMachine.Hold) { machine.holds.insert(hold) }

    func release(_ hold: SchedulerStateMachine.Hold) { machine.holds.remove(hold) }

    /// Applies limits of the whole queue. Live runs above lower ones continue.
    func setLimits(_ limits: SchedulerLimits) { machine.limits = limits }

    /// Applies the profiles' own limits.
    func setMaxActive(byProfile limits: [String: Int]) {
        guard limits != machine.maxActiveByProfile else { return }
        machine.maxActiveByProfile = limits
        schedule()
    }

    /// Whether nothing may start.
    var isHeld: Bool { !machine.holds.isEmpty || isShuttingDown }
}

/// Scheduling passes, and what was requested for starts that are committed and not launched yet.
struct PassState {
    /// One pass runs at a time; a request during a pass causes another one.
    var isRunning = false
    var isWanted = false
    /// The number of passes that have begun.
    var count = 0
    /// The callers that wait for the end of a pass.
    var waiters: [(pass: Int, continuation: CheckedContinuation<Void, Never>)] = []
    /// Stops; the transfer is discarded if there was no such start.
    var stops: [TaskID: TransferID?] = [:]
    /// Changed rates.
    var rates: [TaskID: (receive: Int64, send: Int64)] = [:]
}
