import Logging
import XferCore
import XferCurl
public import XferModel
import XferNetwork
import XferStore

/// Follows the network: publishes changes, and carries out what follows from them.
extension TransferManager {
    /// The state that the last `network.changed` reported.
    public var networkState: NetworkState { network.reachability.told }

    /// The current state of the network.
    public func networkReport() -> NetworkReport { NetworkReport(network.reachability) }

    // MARK: Looking

    /// Starts the monitor and returns the first state.
    func beginFollowingNetwork() -> NetworkState {
        let facts = startMonitor()
        network.reachability = Reachability(facts: facts, metered: settings.meteredInterfaces)
        return network.reachability.told
    }

    func endFollowingNetwork() {
        stopMonitor()
        for task in [network.settling, network.waking, network.stallWatch] { task?.cancel() }
    }

    /// Applies changed settings of the network.
    func followNetworkSettings() {
        if settings.monitorsNetwork != (network.monitor != nil) {
            stopMonitor()
            onFacts(startMonitor())
        }
        settle(at: network.reachability.onMetered(settings.meteredInterfaces, at: Clocks.monotonic()))
    }

    private func startMonitor() -> NetworkFacts? {
        guard settings.monitorsNetwork else { return nil }
        let (facts, continuation) = AsyncStream.makeStream(of: NetworkFacts?.self)
        do throws(NetworkMonitorError) {
            let monitor = try NetworkMonitor { continuation.yield($0) }
            network.monitor = monitor
            network.listener = Task { [weak self] in
                for await facts in facts { await self?.onNews(facts) }
            }
            return monitor.initial
        } catch {
            logger.report("the network cannot be watched and counts as there", error)
            return nil
        }
    }

    private func stopMonitor() {
        network.listener?.cancel()
        network.listener = nil
        network.monitor?.stop()
        network.monitor = nil
    }

    /// Called by a monitor, which may have been stopped meanwhile.
    private func onNews(_ facts: NetworkFacts?) {
        guard !Task.isCancelled else { return }
        onFacts(facts)
    }

    /// Handles new facts about the network; nil if they are unknown.
    func onFacts(_ facts: NetworkFacts?) {
        settle(at: network.reachability.onFacts(facts, at: Clocks.monotonic()))
    }

    private func settle(at due: MonotonicInstant?) {
        guard let due, !isShuttingDown else { return }
        network.settling?.cancel()
        let length = max(.zero, Clocks.monotonic().duration(to: due))
        network.settling = Task { [weak self] in
            guard (try? await Task.sleep(for: length, clock: .continuous)) != nil else { return }
            await self?.onSettled()
        }
    }

    private func onSettled() async {
        guard let change = network.reachability.onTimer(at: Clocks.monotonic()), !isShuttingDown else { return }
        if let state = change.state {
            logger.notice("the network has changed", metadata: ["state": "\(state.rawValue)"])
            network.isUntold = true
            await tellOfNetwork()
        }
        if change.hasLost { await doubtConnections() }
        if network.reachability.isMetered { await leaveMeteredLinks() }
        if change.wakes { wakeWaitingForNetwork() }
    }

    /// Publishes changes in order. If one could not be recorded, the newest is published later instead.
    private func tellOfNetwork() async {
        guard network.isUntold else { return }
        network.isUntold = false
        let state = network.reachability.told
        let now = clock()
        do {
            try await store.write { try $0.append(.networkChanged(state: state), at: now) }
        } catch {
            network.isUntold = true
        }
    }

    /// Called when the database can be written again.
    func catchUpWithNetwork() async {
        await tellOfNetwork()
        if network.isWakeDue { wakeWaitingForNetwork() }
    }

    // MARK: Waking

    /// Each machine waits a random time up to this, because many machines notice at once that their network is back.
    private static let longestJitter = Duration.seconds(2)

    /// Wakes the tasks that wait for the network, all at one moment and in the order of the queue, whose limits spread
    /// them.
    func wakeWaitingForNetwork() {
        network.isWakeDue = true
        guard network.waking == nil else { return }
        let jitter = Duration.microseconds(Int64.random(in: 0...Self.longestJitter.wholeMicroseconds, using: &random))
        network.waking = Task { [weak self] in
            guard (try? await Task.sleep(for: jitter, clock: .continuous)) != nil else { return }
            await self?.wake()
        }
    }

    private func wake() async {
        guard !isShuttingDown else { return }
        network.isWakeDue = false
        // Tasks that start meanwhile would overtake those not woken yet.
        scheduler.holds.insert(.waking)
        let isMetered = network.reachability.isMetered
        let now = clock()
        var after: TaskID?
        do {
            repeat {
                after = try await store.write(.bulky) { [after] tx in
                    let page = try tx.waiting(for: .network, after: after, limit: Self.largestStep)
                    for task in page where !isMetered || task.specification.request.allowsMetered {
                        var machine = TaskStateMachine(task)
                        _ = machine.onWaitOver(at: now)
                        try tx.update(machine.task)
                    }
                    return page.last?.id
                }
            } while after != nil
        } catch {
            // Repeated when the database can be written again.
            network.isWakeDue = true
            logger.report("waking tasks that wait for the network failed", error)
        }
        scheduler.holds.remove(.waking)
        network.waking = nil
        if network.isWakeDue, !isDegraded { wakeWaitingForNetwork() }
        schedule()
    }

    // MARK: Metered links

    /// Whether this run must not continue over the current, metered network.
    func isKeptOffMetered(_ id: TaskID) -> Bool {
        guard network.reachability.isMetered, let live = runs[id], !live.allowsMetered, live.mayStop else {
            return false
        }
        // In other phases the bytes have arrived already.
        return [.connecting, .transferring].contains(live.control.progress.phase)
    }

    /// Stops runs that may not use a metered network at their next checkpoint. Their tasks return to the queue and wait
    /// there.
    private func leaveMeteredLinks() async {
        for (id, live) in runs where isKeptOffMetered(id) { await stop(live) }
    }

    /// Called when a task was changed.
    func keepOffMetered(_ task: TransferTask) async {
        let (id, allowsMetered) = (task.id, task.specification.request.allowsMetered)
        if runs[id] != nil {
            runs[id]?.allowsMetered = allowsMetered
            if isKeptOffMetered(id), let live = runs[id] { await stop(live) }
        } else if isScheduling, network.reachability.isMetered, !allowsMetered {
            if stopsBeforeLaunch[id] == nil { stopsBeforeLaunch[id] = .some(nil) }
        }
    }

    // MARK: Dead connections

    /// How long a transfer may move no byte after its link or address was lost.
    private static let patience = Duration.seconds(5)

    /// Called when a link or an address was lost. New requests use no older connections. Transfers on them that move no
    /// byte from now on are started again, unless that would lose their bytes.
    private func doubtConnections() async {
        await services.engine.retireSessions { _ in true }
        guard network.stallWatch == nil, !runs.isEmpty else { return }
        let before = runs.mapValues { ($0.begunAt, Self.bytes(of: $0)) }
        network.stallWatch = Task { [weak self] in
            guard (try? await Task.sleep(for: Self.patience, clock: .continuous)) != nil else { return }
            await self?.restartStalled(before)
        }
    }

    private func restartStalled(_ before: [TaskID: (MonotonicInstant, Int64)]) async {
        network.stallWatch = nil
        for (id, live) in runs {
            guard let (begunAt, bytes) = before[id], begunAt == live.begunAt, bytes == Self.bytes(of: live),
                live.mayStop, [.connecting, .transferring].contains(live.control.progress.phase),
                bytes == 0 || live.control.isResumable == true
            else { continue }
            await stop(live)
        }
    }

    private static func bytes(of live: LiveRun) -> Int64 {
        live.control.progress.received + live.control.progress.sent
    }
}
