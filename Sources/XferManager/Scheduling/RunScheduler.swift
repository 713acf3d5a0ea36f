import Logging
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore
import XferSystem

/// The notifications of the scheduler to the other parts of the manager. The calls do not wait.
protocol RunSchedulerDelegate: AnyObject, Sendable {
    /// Deletes the bytes of these transfers, unless a task still uses them.
    func discard(_ transfers: [TransferID], undoing: Bool)
    /// Wakes tasks that wait for a network, because one may be available.
    func wakeWaitingForNetwork()
    func onRunningCount(_ count: Int)
    /// Called when a task has ended or changed its state; retention may have work.
    func onRunEnded()
}

/// Starts runs, stops them, and records their ends. It alone knows which runs and transfers are live.
///
/// The invariant: a task is `running` in the database only while this actor has its run, or while a pass is between the
/// start's commit and its launch; a `BriefRun` is the one exception. The commit suspends the actor, so a verb, a
/// changed rate or a policy may concern a start that is committed and has no run yet. Every such call is answered by
/// `runs` if the run is there; else, while a pass is under way, it is recorded in `passes` and applied by `launch`.
/// This is invisible outside this actor.
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
    /// The live runs by task. A queued task takes no memory.
    var runs: [TaskID: LiveRun] = [:]
    /// The transfers of these runs.
    var transfers: [TransferID: LiveTransfer] = [:]
    /// Transfers whose files and then rows are being deleted. No task is started on them.
    var transfersBeingDeleted: Set<TransferID> = []
    var passes = PassState()
    /// Runs whose start is not committed.
    var briefs = BriefRuns()
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    /// The known numbers of transfers that hosts serve at once, for hosts that refuse more.
    var hosts = HostConcurrency()
    /// The number of times that tasks were queued again because their hosts refused too many concurrent requests.
    var backOffs: [TaskID: Int] = [:]
    /// Fires when the first wait or cooldown ends or a condition is due.
    var timer = WakeTimer()
    /// Samples progress while runs live.
    var ticker: Task<Void, Never>?
    /// The task of the check in `checkIdleness`.
    var idleCheck: Task<Void, Never>?
    /// Callers that wait for the end of a run.
    var endWaiters: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    /// Callers that wait for the end of the last run.
    var drainWaiters: [CheckedContinuation<Void, Never>] = []
    /// The number of holders of each nested hold.
    private var nestedHolds: [SchedulerStateMachine.Hold: Int] = [:]
    /// Callers that wait until the tasks that waited for the network are woken.
    private(set) var wakingWaiters: [CheckedContinuation<Void, Never>] = []

    init(
        context: ManagerContext, reachability: NIOLockedValueBox<Reachability>,
        beingPublished: NIOLockedValueBox<Set<TaskID>>
    ) {
        self.context = context
        self.reachability = reachability
        self.beingPublished = beingPublished
        let settings = context.settings.withLockedValue(\.self)
        machine = SchedulerStateMachine(limits: settings.scheduler)
        machine.origins.setPolite(settings.isPolite)
    }

    func setDelegate(_ delegate: any RunSchedulerDelegate) {
        self.delegate = delegate
        store.uncommittedStarts.setOnRead { [weak self] in await self?.showBriefRuns() }
        store.uncommittedStarts.setWanted { [weak self] in
            guard let self else { return }
            Task { await self.commitAllStarts() }
        }
    }

    /// Prevents all starts until `release` of the same hold. What `isNested` lasts until every holder has released it.
    func hold(_ hold: SchedulerStateMachine.Hold) {
        machine.holds.insert(hold)
        if hold.isNested { nestedHolds[hold, default: 0] += 1 }
    }

    func release(_ hold: SchedulerStateMachine.Hold) {
        if hold.isNested, let count = nestedHolds[hold] {
            nestedHolds[hold] = count > 1 ? count - 1 : nil
            guard count == 1 else { return }
        }
        machine.holds.remove(hold)
        guard hold == .waking else { return }
        for waiter in wakingWaiters { waiter.resume() }
        wakingWaiters = []
    }

    /// Waits until tasks that waited for the network are woken, which delays passes for a moment.
    func wakingEnded() async {
        guard machine.holds.contains(.waking) else { return }
        await withCheckedContinuation { wakingWaiters.append($0) }
    }

    /// Applies limits of the whole queue. Live runs above lower ones continue.
    func setLimits(_ limits: SchedulerLimits, isPolite: Bool, ofHosts hosts: [String: OriginWindows.HostLimit]) {
        machine.limits = limits
        machine.origins.setPolite(isPolite)
        machine.origins.setLimits(hosts)
    }

    /// Applies the profiles' own limits, and which of them may use more connections than is polite.
    func setProfiles(maxActive limits: [String: Int], impolite: Set<String>) {
        machine.impoliteProfiles = impolite
        guard limits != machine.maxActiveByProfile else { return }
        machine.maxActiveByProfile = limits
        schedule()
    }

    /// Applies one profile's own limits; see `setProfiles`.
    func setProfile(_ name: String, maxActive limit: Int?, isImpolite: Bool) {
        if isImpolite != machine.impoliteProfiles.contains(name) {
            if isImpolite { machine.impoliteProfiles.insert(name) } else { machine.impoliteProfiles.remove(name) }
        }
        guard limit != machine.maxActiveByProfile[name] else { return }
        machine.maxActiveByProfile[name] = limit
        schedule()
    }

    /// True if nothing may start.
    var isHeld: Bool { !machine.holds.isEmpty || isShuttingDown }
}

/// Scheduling passes, and the requests that concern starts that are committed but not launched yet.
struct PassState {
    /// One pass runs at a time; a request during a pass causes another one.
    var isRunning = false
    var isWanted = false
    /// The number of passes that have begun.
    var count = 0
    /// The time of the last pass that was made.
    var now = Timestamp(seconds: 0)
    /// The callers that wait for the end of a pass.
    var waiters: [(pass: Int, continuation: CheckedContinuation<Void, Never>)] = []
    /// Stop the run; discard the transfer if there was no such start.
    var stops: [TaskID: TransferID?] = [:]
    /// The changed rates.
    var rates: [TaskID: (receive: Int64, send: Int64)] = [:]
    /// Tasks that start although their hosts cool down, because their users have resumed them.
    private(set) var ignoringCooldown: Set<TaskID> = []

    /// Allows the task to start as soon as the limits allow it. If there are already 1,000 such tasks, it waits for its
    /// host, and its user can resume it again.
    mutating func letStart(_ id: TaskID) {
        if ignoringCooldown.count < 1000 { ignoringCooldown.insert(id) }
    }

    /// Removes tasks that have started, or that no longer wait for a cooldown.
    mutating func settle(_ ids: Set<TaskID>) { ignoringCooldown.subtract(ids) }
}

extension RunScheduler {
    /// Requeues tasks that are `running` in the database and have no run: after a crash, a clean stop or a time without
    /// storage. Returns how many. The caller holds starts meanwhile, so that no start is between its commit and its
    /// launch.
    func restoreRunning() async throws -> Int {
        await passEnded()
        var after: TaskID?
        var count = 0
        while true {
            let live = Set(runs.keys)
            let now = clock()
            let page = try await store.write { [after] tx in
                try tx.restoreRunning(after: after, except: live, at: now)
            }
            count += page.seen.count { !live.contains($0) } - page.unreadable.count
            logUnreadable(page.unreadable)
            guard let last = page.seen.last else { return count }
            after = last
        }
    }
}

extension StoreTransaction {
    /// Requeues the next `running` tasks except those in `live`, and pauses those whose rows are damaged.
    ///
    /// - Returns: the tasks that were inspected (empty at the end), and those among them with damaged rows.
    func restoreRunning(
        after: TaskID?, except live: Set<TaskID>, at now: Timestamp
    ) throws -> (seen: [TaskID], unreadable: [TaskID]) {
        let tasks = try self.tasks.list(inState: .running, after: after, limit: 500)
        for task in tasks where !live.contains(task.id) {
            let canContinue = try !mayHaveBegun(task)
            try transition(task, at: now) { $0.onRestore(at: now, canContinue: canContinue) }
        }
        let unreadable = tasks.unreadable.filter { !live.contains($0) }
        try self.tasks.setAside(unreadable)
        return ((tasks.map(\.id) + tasks.unreadable).sorted(), unreadable)
    }
}

/// A task's run while it lives.
struct LiveRun {
    let run: any TaskRun
    /// The transfer it was started on.
    let transfer: TransferID
    /// The host whose lane the task was in.
    let host: String
    let control: RunControl
    let trust: RunTrust
    let owner: Owner
    let progressInterval: Duration
    /// True if it can be stopped and repeated later.
    let mayStop: Bool
    /// True if its policies have changed, so that it stops and is queued again.
    var reevaluatesTrust = false
    var lastProgress: MonotonicInstant?
    /// True if it may use metered networks.
    var allowsMetered = true
    /// True if an earlier attempt had shown that it is large.
    var wasKnownLarge = false
    let begunAt: MonotonicInstant
    /// True if the run has ended and its end is being committed.
    var isEnding = false

    /// Requests it to stop at the next safe point.
    func stop() async { await run.stop() }

    /// The number of bytes moved in both directions.
    var byteCount: Int64 { control.progress.received.addingSaturated(control.progress.sent) }

    /// True while its body is received or awaited; in other phases the bytes have arrived already.
    var isTransferring: Bool { [.connecting, .transferring].contains(control.progress.phase) }
}

/// A transfer while tasks run on it.
struct LiveTransfer {
    /// Makes the requests; nil if the task makes its own, which is never shared.
    let shared: SharedTransfer?
    let trust: RunTrust
    /// Tasks with this key may join; nil if none may any more.
    var key: [UInt8]?
    let owner: Owner
    var tasks: Set<TaskID> = []
    /// True if more than one task has run on it.
    var wasShared = false
    /// The request in its origin's window, while its body has ended and its outcome is not known.
    var ticket: OriginWindow.Ticket?
    /// True if its origin has refused it because of other requests; see `RunScheduler.recordOrigin`.
    var isBackedOff = false
}

/// SplitMix64 (Steele, Lea, Flood 2014): a transaction that runs twice draws the same numbers.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
