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
    /// The live runs and their transfers.
    var table = RunTable()
    var passes = PassState()
    /// Runs whose start is not committed.
    var briefs = BriefRuns()
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    /// Refusals of hosts that receive too many requests at once.
    var refusals = HostRefusals()
    var timers = SchedulerTimers()
    /// Callers that wait for the ends of runs.
    var waiters = RunWaiters()
    /// The holders of nested holds.
    var holds = NestedHolds()

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
        holds.begin(hold)
    }

    func release(_ hold: SchedulerStateMachine.Hold) {
        guard holds.end(hold) else { return }
        machine.holds.remove(hold)
        if hold == .waking { holds.resumeWakingWaiters() }
    }

    /// Waits until tasks that waited for the network are woken, which delays passes for a moment.
    func wakingEnded() async {
        guard machine.holds.contains(.waking) else { return }
        await withCheckedContinuation { holds.addWakingWaiter($0) }
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

    var runs: [TaskID: LiveRun] { table.runs }

    var transfers: [TransferID: LiveTransfer] { table.transfers }
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
