import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
public import XferModel
import XferStore
import XferSystem

/// Follows the network: publishes changes, and applies their consequences.
public actor NetworkFollower: ManagerPart {
    nonisolated let context: ManagerContext
    private let scheduler: RunScheduler
    /// The known state of links, addresses and routes. This actor writes it, others read it.
    nonisolated let reachability: NIOLockedValueBox<Reachability>
    /// The monitor, or nil while the network is not monitored.
    private var monitor: NetworkMonitor?
    /// Receives the monitor's reports.
    private var listener: Task<Void, Never>?
    /// Waits until changes have settled.
    private var settling: Task<Void, Never>?
    /// True if tasks that wait for the network have still to be woken.
    private var isWakeDue = false
    private var waking: Task<Void, Never>?
    /// True if a change could not be recorded.
    private var isUnrecorded = false
    /// Distinguishes the network in use; nil while none is known. See `ReachabilityRules.identity`.
    private var identity: String?
    /// The last network whose failures may be on the list of failed URLs.
    private var listedIdentity: String?
    /// True if `listedIdentity` was read from the database.
    private var hasRecalled = false
    private let forgetting = AsyncLock()
    /// Detect connections that are dead without an error: one for each loss, oldest first, for `patience`.
    private(set) var stallWatches: [Task<Void, Never>] = []

    init(context: ManagerContext, scheduler: RunScheduler, reachability: NIOLockedValueBox<Reachability>) {
        self.context = context
        self.scheduler = scheduler
        self.reachability = reachability
    }

    /// The state that the last `network.changed` reported.
    public nonisolated var state: NetworkState { reachability.withLockedValue(\.announced) }

    // MARK: Looking

    /// Starts the monitor and returns the first state.
    func begin() -> NetworkState {
        let facts = startMonitor()
        let known = Reachability(facts: facts, metered: context.settings.withLockedValue(\.meteredInterfaces))
        reachability.withLockedValue { $0 = known }
        identity = ReachabilityRules.identity(of: facts)
        return state
    }

    private static let identitySetting = "network.identity"

    /// Clears the list of failed URLs when the network in use is not the one of the list, which may be from an earlier
    /// daemon: answers of the previous network's portal or filter say nothing about the URLs.
    ///
    /// One call at a time: the network may change meanwhile, and the last one in use is recorded last.
    func forgetFormerFailures() async {
        await forgetting.enter()
        defer { forgetting.leave() }
        do {
            if !hasRecalled {
                listedIdentity = try await store.read { try $0.settings.find(Self.identitySetting) }
                hasRecalled = true
            }
            while let identity, identity != listedIdentity {
                if listedIdentity != nil {
                    let count = try await store.repeating { try $0.failedURLs.clear(of: nil) }
                    if count > 0 {
                        logger.notice(
                            "cleared the failed URLs of the previous network", metadata: ["count": "\(count)"])
                    }
                }
                try await store.write { try $0.settings.set(Self.identitySetting, identity) }
                listedIdentity = identity
            }
        } catch {
            // Repeated when the database can be written again.
            logger.report("the failed URLs of the previous network could not be cleared", error)
        }
    }

    func end() {
        stopMonitor()
        for task in [settling, waking] + stallWatches { task?.cancel() }
    }

    /// Applies changed settings of the network.
    func applySettings() {
        if context.settings.withLockedValue(\.monitorsNetwork) != (monitor != nil) {
            stopMonitor()
            onFacts(startMonitor())
        }
        let metered = context.settings.withLockedValue(\.meteredInterfaces)
        settle(at: reachability.withLockedValue { $0.onMetered(metered, at: Clocks.monotonic()) })
    }

    private func startMonitor() -> NetworkFacts? {
        guard context.settings.withLockedValue(\.monitorsNetwork) else { return nil }
        let (facts, continuation) = AsyncStream.makeStream(of: NetworkFacts?.self)
        do throws(SystemCallError) {
            let monitor = try NetworkMonitor { continuation.yield($0) }
            self.monitor = monitor
            listener = Task { [weak self] in
                for await facts in facts { await self?.onMonitorFacts(facts) }
            }
            return monitor.initial
        } catch {
            logger.report("network changes cannot be observed; assuming the network is up", error)
            return nil
        }
    }

    private func stopMonitor() {
        listener?.cancel()
        listener = nil
        monitor?.stop()
        monitor = nil
    }

    /// Handles new facts of a monitor, which may have been stopped meanwhile.
    private func onMonitorFacts(_ facts: NetworkFacts?) {
        guard !Task.isCancelled else { return }
        onFacts(facts)
    }

    /// Handles new facts about the network; nil if they are unknown.
    func onFacts(_ facts: NetworkFacts?) {
        let former = identity
        identity = ReachabilityRules.identity(of: facts)
        if identity != former { services.networkProof.withLockedValue { $0.onChange(at: Clocks.monotonic()) } }
        settle(at: reachability.withLockedValue { $0.onFacts(facts, at: Clocks.monotonic()) })
    }

    private func settle(at due: MonotonicInstant?) {
        guard let due, !isShuttingDown else { return }
        settling?.cancel()
        let length = max(.zero, Clocks.monotonic().duration(to: due))
        settling = Task { [weak self] in
            guard (try? await Task.sleep(for: length, clock: .continuous)) != nil else { return }
            await self?.onSettled()
        }
    }

    private func onSettled() async {
        guard let change = reachability.withLockedValue({ $0.onTimer(at: Clocks.monotonic()) }), !isShuttingDown
        else { return }
        if let state = change.state {
            logger.notice("the network has changed", metadata: ["state": "\(state.rawValue)"])
            isUnrecorded = true
            await recordState()
        }
        await forgetFormerFailures()
        services.engine.forgetAddresses()
        if change.hasLost { await doubtConnections() }
        if reachability.withLockedValue(\.isMetered) { await scheduler.leaveMeteredLinks() }
        if change.wakes { scheduleWake() }
    }

    /// Publishes changes in order. If one could not be recorded, the newest is published later instead.
    private func recordState() async {
        guard isUnrecorded else { return }
        isUnrecorded = false
        let state = state
        let now = clock()
        do {
            try await store.write { try $0.events.append(.networkChanged(state: state), at: now) }
        } catch {
            isUnrecorded = true
        }
    }

    /// Reads the tables again. Call it when the database can be written again.
    func catchUp() async {
        await recordState()
        await forgetFormerFailures()
        if isWakeDue { scheduleWake() }
    }

    // MARK: Waking

    /// Each machine waits a random time up to this, because many machines notice at once that their network is back.
    private static let longestJitter = Duration.seconds(2)

    /// Wakes the tasks that wait for the network, all at one moment and in the order of the queue, whose limits spread
    /// them.
    nonisolated func wakeWaiting() { Task { await scheduleWake() } }

    private func scheduleWake() {
        isWakeDue = true
        guard waking == nil else { return }
        let jitter = Duration.microseconds(Int64.random(in: 0...Self.longestJitter.wholeMicroseconds))
        waking = Task { [weak self] in
            guard (try? await Task.sleep(for: jitter, clock: .continuous)) != nil else { return }
            await self?.wake()
        }
    }

    private func wake() async {
        guard !isShuttingDown else { return }
        isWakeDue = false
        // Tasks that start meanwhile would overtake those not woken yet.
        await scheduler.hold(.waking)
        let isMetered = reachability.withLockedValue(\.isMetered)
        let now = clock()
        var after: TaskID?
        do {
            repeat {
                after = try await store.write(.bulky) { [after] tx in
                    let page = try tx.waits.tasks(for: .network, after: after, limit: StoreTransaction.largestStep)
                    for task in page where !isMetered || task.specification.request.allowsMetered {
                        try tx.transition(task, at: now) { $0.onWaitOver(at: now) }
                    }
                    return page.lastID
                }
            } while after != nil
        } catch {
            // Repeated when the database can be written again.
            isWakeDue = true
            logger.report("tasks that wait for the network could not be started", error)
        }
        await scheduler.release(.waking)
        waking = nil
        if isWakeDue, store.degradation == nil { scheduleWake() }
        await scheduler.schedule()
    }

    // MARK: Dead connections

    /// The time for which a transfer may receive no byte after its link or address was lost.
    private static let patience = Duration.seconds(5)

    /// Handles the loss of a link or an address. New requests use no older connections. Transfers on them that move no
    /// byte from now on are started again, unless that would lose their bytes.
    private func doubtConnections() async {
        await services.engine.retireSessions { _ in true }
        // The runs of small files, too. They count what they have received a moment later.
        await scheduler.showBriefRuns()
        guard !isShuttingDown else { return }
        stallWatches.append(
            Task { [weak self] in
                guard (try? await Task.sleep(for: Self.patience / 5, clock: .continuous)) != nil else { return }
                guard let earlier = await self?.scheduler.snapshots else { return }
                guard (try? await Task.sleep(for: Self.patience * 4 / 5, clock: .continuous)) != nil else { return }
                await self?.restartStalled(earlier)
            })
    }

    private func restartStalled(_ earlier: [TaskID: RunScheduler.RunSnapshot]) async {
        stallWatches = Array(stallWatches.dropFirst())
        await scheduler.restartStalled(since: earlier)
    }
}
