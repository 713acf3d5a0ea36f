import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// The metrics that are computed when they are read: they cost nothing until then.
extension TransferManager {
    /// Samples of the parts' present figures.
    public func metricSamples() async -> [MetricSample] {
        var samples = databaseSamples + trafficSamples
        if let figures = try? await store.readStates({ try $0.figures(groupLimit: Metric.groupLimit) }) {
            samples += self.samples(of: figures)
        }
        let rates = await scheduler.rates(visibleTo: nil)
        let activity = await scheduler.activity
        samples.append(Metric.receiveRate.sample(rates.received))
        samples.append(Metric.sendRate.sample(rates.sent))
        samples.append(Metric.queuePaused.sample(activity.isPaused))
        samples.append(Metric.runningTransfers.sample(Int64(clamping: await scheduler.runningCount)))
        samples += await hostSamples()
        samples += await webhookSamples()
        return samples + (await diskSamples())
    }

    /// The webhooks whose receivers did not accept the last delivery, by name, with the reason.
    public func failingWebhooks() async -> [(name: String, reason: String?)] {
        let names = context.settings.withLockedValue(\.webhooks).map(\.name).sorted()
        guard !names.isEmpty else { return [] }
        let found = try? await store.read { reader in
            try names.compactMap { name -> (name: String, reason: String?)? in
                let state = try reader.deliveries.receiverState(ofWebhook: name)
                return state.failures > 0 ? (name: name, reason: state.lastFailure) : nil
            }
        }
        return found ?? []
    }

    private func webhookSamples() async -> [MetricSample] {
        let failing = Set(await failingWebhooks().map(\.name))
        return context.settings.withLockedValue(\.webhooks).map(\.name).sorted().prefix(Metric.webhookLimit)
            .map { Metric.webhookFailing.sample(failing.contains($0) ? 1.0 : 0.0, $0) }
    }

    private func hostSamples() async -> [MetricSample] {
        let (origins, machine) = await scheduler.origins
        let all = origins.all
        var samples = OriginWindow.Reason.allCases.map { reason in
            Metric.hosts.sample(Int64(clamping: all.count { $0.window.reason == reason }), reason.rawValue)
        }
        let busiest = all.sorted { ($1.window.underWay, $0.host) < ($0.window.underWay, $1.host) }
        for (host, window) in busiest.prefix(Metric.hostLimit) {
            samples += [
                Metric.hostWindow.sample(Int64(clamping: machine.maxActive(of: host)), host),
                Metric.hostTransfers.sample(Int64(clamping: machine.activeCount(ofHost: host)), host),
                Metric.hostRefusals.sample(Int64(clamping: window.refusals), host),
            ]
        }
        return samples
    }

    private var databaseSamples: [MetricSample] {
        let statistics = store.statistics
        return [
            Metric.degraded.sample(store.isDegraded || !services.policies.withLockedValue(\.damaged).isEmpty),
            Metric.damagedRows.sample(Int64(clamping: context.allDamagedRows.count)),
            Metric.databaseBytes.sample(statistics.databaseBytes),
            Metric.logBytes.sample(statistics.logBytes),
            Metric.checkpointAge.sample(statistics.checkpointAge.inSeconds),
            Metric.waitingWrites.sample(Int64(clamping: store.waitingWrites)),
            Metric.commitDuration.sample(statistics.commitLatency),
            Metric.commitChanges.sample(statistics.groupSize),
        ]
    }

    private var trafficSamples: [MetricSample] {
        let engine = services.engine.figures
        let readers = hub.readers
        return [
            Metric.runningRequests.sample(Int64(clamping: engine.attemptCount)),
            Metric.requests.sample(engine.requestCount),
            Metric.connectionsMade.sample(engine.connectionCount),
            Metric.loopStalls.sample(engine.stalls.count),
            Metric.loopStalled.sample(engine.stalls.length.inSeconds),
            Metric.eventSubscribers.sample(Int64(clamping: readers.count)),
            Metric.eventBacklog.sample(Int64(clamping: readers.backlog)),
        ]
    }

    private func samples(of figures: QueueFigures) -> [MetricSample] {
        var samples = TaskState.allCases.map { Metric.tasksByState.sample(figures.states[$0] ?? 0, $0.rawValue) }
        samples += WaitReason.allCases.map { Metric.waitingTasks.sample(figures.waits[$0] ?? 0, $0.rawValue) }
        samples += figures.groups.map {
            Metric.groupTasks.sample($0.count, $0.group.owner.description, $0.group.name, $0.state.rawValue)
        }
        samples.append(Metric.failedURLs.sample(figures.failedURLCount))
        samples.append(Metric.cacheEntries.sample(figures.cache.count))
        samples.append(Metric.cacheBytes.sample(figures.cache.byteCount))
        samples.append(Metric.cacheLimit.sample(settings.cacheMaxBytes))
        samples.append(Metric.webhookDiscards.sample(figures.discardedDeliveries))
        let expiring = services.policies.withLockedValue(\.stored)
            .compactMap { entry in entry.policy.expiresAt.map { (name: entry.policy.name, at: $0) } }
            .sorted { ($0.at, $0.name) < ($1.at, $1.name) }
        samples += expiring.prefix(Metric.policyLimit).map { Metric.policyExpiry.sample($0.at.wholeSecond, $0.name) }
        return samples
    }

    private func diskSamples() async -> [MetricSample] {
        let settings = settings
        var directories: [String] = []
        for directory in [context.stateDirectory.path, settings.downloadDirectory]
            + [settings.incompleteDirectory].compactMap(\.self) + settings.roots
        where !directories.contains(directory) && directories.count < Metric.directoryLimit {
            directories.append(directory)
        }
        let figures = await context.disks.measure(directories)
        return [Metric.diskReserve.sample(settings.reserve)]
            + figures.flatMap {
                [Metric.diskFree.sample($0.free, $0.directory), Metric.diskSize.sample($0.size, $0.directory)]
            }
    }
}
