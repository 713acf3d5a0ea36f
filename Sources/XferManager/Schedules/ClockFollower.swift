import Logging
import XferCore
import XferModel
import XferStore
import XferSystem

/// Handles changes of the wall clock.
///
/// Timers run on a clock that is never set (CLOCK_BOOTTIME). The end of a wait is stored in wall-clock time, which
/// users understand and which is valid after a restart.
actor ClockFollower: ManagerPart {
    nonisolated let context: ManagerContext
    private let scheduler: RunScheduler
    private let queue: QueueControl
    private let policies: TrustPolicies
    private let remoteUploads: RemoteUploadCleanup
    private let webhooks: WebhookDispatcher
    /// The difference between the wall clock and the monotonic clock at the last check.
    private var offset: Duration

    init(
        context: ManagerContext, scheduler: RunScheduler, queue: QueueControl, policies: TrustPolicies,
        remoteUploads: RemoteUploadCleanup, webhooks: WebhookDispatcher
    ) {
        self.context = context
        self.scheduler = scheduler
        self.queue = queue
        self.policies = policies
        self.remoteUploads = remoteUploads
        self.webhooks = webhooks
        offset = Self.offset(of: context.services.clock())
    }

    /// Handles a change of the wall clock: waits keep their remaining length, and times of day are computed again.
    func onClockSet() async {
        let now = clock()
        let current = Self.offset(of: now)
        let step = current - offset
        if ClockStep.isNoticed(step) {
            offset = current
            context.metrics.onClockSet()
            logger.notice("the wall clock was set", metadata: ["seconds": "\(step.components.seconds)"])
            do {
                try await store.write(.bulky) { [services] tx in
                    try tx.waits.shift(by: step, now: now)
                    try services.ages.record(in: tx)
                }
            } catch {
                logger.report("waits could not be moved to the new time", error)
            }
        }
        guard !isShuttingDown else { return }
        await scheduler.onClockSet()
        await queue.onClockSet()
        await recomputeConditions()
        await remoteUploads.onClockSet()
        await webhooks.onClockSet()
        await policies.onClockSet()
    }

    /// Evaluates every calendar condition again: the wall clock was set, or zones may have changed. After an error,
    /// which is logged, the conditions are evaluated when they are due.
    func recomputeConditions() async {
        zones.recheck()
        var after: TaskID?
        do {
            while true {
                let (last, effects) = try await store.write(.bulky) {
                    [after, conditionInputs, clock, inFlight = context.inFlight] tx -> (TaskID?, [Effect]) in
                    let now = clock()
                    let tasks = try tx.conditions.tasks(after: after, limit: StoreTransaction.largestStep)
                    return (
                        tasks.lastID, try tx.conditions.apply(to: Array(tasks), conditionInputs, inFlight, at: now)
                    )
                }
                await scheduler.perform(effects)
                guard let last else { break }
                after = last
            }
        } catch {
            logger.report("the start conditions could not be computed again", error)
        }
        await scheduler.schedule()
    }

    private static func offset(of wall: Timestamp) -> Duration {
        .microseconds(wall.rawValue) - .nanoseconds(Clocks.monotonic().nanoseconds)
    }
}

/// A step of the wall clock.
enum ClockStep {
    /// The smallest change that is applied. Shorter ones are applied with the next change, since waits need not be
    /// exact to the second.
    private static let least = Duration.seconds(1)

    static func isNoticed(_ step: Duration) -> Bool { step >= least || step <= .zero - least }
}

extension StoreTransaction {
    /// Applies `ClockFollower.onClockSet` for a clock that was set while the machine ran and the service did not. The
    /// change and the new clock readings are committed in one transaction, so that no wait is moved twice.
    func followClock(_ ages: RetentionAges, at now: Timestamp) throws {
        if let step = ages.stepBeforeStart, ClockStep.isNoticed(step) {
            try waits.shift(by: step, now: now)
        } else {
            try waits.cap(at: now)
        }
        try ages.record(in: self)
    }
}
