import Logging
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore
import XferSystem

/// Ends of runs: the result is committed, then the run is removed, and callers that wait for it are resumed.
extension RunScheduler {
    func onRunEnd(_ id: TaskID, _ result: RunResult) async {
        publishLastProgress(of: id, result)
        table.runs[id]?.isEnding = true
        var unwanted: [TransferID] = []
        let facts = reachability.withLockedValue(\.facts)
        let served = result.isRefused ? table.servedTransfers(besides: id) : 0
        let others = refusals.onRunEnd(id, result, in: table)
        let isBackedOff = recordOrigin(of: id, result, othersOfHost: others)
        do {
            let reevaluatesTrust = reevaluatesTrust(id, result)
            let aftermath = try await commitEnd(
                of: id, result, reevaluatesTrust: reevaluatesTrust, othersOfHost: others, isBackedOff: isBackedOff)
            if aftermath.discardsBytes { unwanted.append(result.transferID) }
            services.removeSpoolFiles(aftermath.spoolFiles)
        } catch {
            logger.report(
                "a run's end could not be recorded; it continues from its last checkpoint", error, ["task": "\(id)"])
        }
        // The task may now wait for a network change that has happened meanwhile.
        if facts != reachability.withLockedValue(\.facts) { delegate?.wakeWaitingForNetwork() }
        machine.onEnd(id)
        context.inFlight.leave(id)
        var hostWithRoom: String?
        if let live = table.runs.removeValue(forKey: id) {
            if refusals.isInQuestion(live.host) {
                // Another one may have ended while the refusal was being committed.
                let hasRoom =
                    !result.isRefused || table.servedTransfers(of: live.host, besides: live.transfer) < served
                if hasRoom { hostWithRoom = live.host }
            }
            let now = Clocks.monotonic()
            context.metrics.onTraffic(live.control.measure(now))
            context.metrics.onRunEnd(after: live.begunAt.duration(to: now))
            unwanted += leave(live.transfer, id)
            refusals.forgetIdle(live.host, in: table)
            // The task has moved to a transfer of its own.
            if live.transfer != result.transferID, !unwanted.contains(live.transfer) { unwanted.append(live.transfer) }
        }
        delegate?.discard(unwanted, undoing: result.isPublished)
        waiters.onEnd(of: id)
        delegate?.onRunningCount(machine.runningCount)
        resumeDrainWaiters()
        if let hostWithRoom { await retryRefused(by: hostWithRoom) }
        schedule()
        delegate?.onRunEnded()
    }

    func resumeDrainWaiters() {
        if runs.isEmpty, briefs.runs.isEmpty { waiters.onDrained() }
    }

    /// True if the run ended because its policies or lists have changed.
    private func reevaluatesTrust(_ id: TaskID, _ result: RunResult) -> Bool {
        guard let live = runs[id] else { return false }
        switch result.end {
        case .stopped:
            return live.reevaluatesTrust
        case .failed(let error)
        where [.trustRejected, .pinMismatch, .revocationUnknown, .policyMissing, .rejectedByPolicy].contains(
            error.reason):
            return live.trust.isStale(
                under: services.policies.withLockedValue(\.self), services.admission.withLockedValue(\.self),
                at: clock())
        case .completed, .staged, .failed, .again, .storageFailed, .overtaken:
            return false
        }
    }

    private func commitEnd(
        of id: TaskID, _ result: RunResult, reevaluatesTrust: Bool, othersOfHost: Int, isBackedOff: Bool
    ) async throws -> RunAftermath {
        let begunAt = runs[id]?.begunAt ?? Clocks.monotonic()
        let isAuthentic = runs[id].map { live in
            services.networkProof.withLockedValue { $0.isAuthentic(live.run.specification.request.url, since: begunAt) }
        }
        let rules = RunEndRules(
            reevaluatesTrust: reevaluatesTrust, isShuttingDown: isShuttingDown,
            retry: context.settings.withLockedValue(\.retry),
            network: reachability.withLockedValue { $0.condition(since: begunAt) },
            othersOfHost: othersOfHost, isBackedOff: isBackedOff, isAuthentic: isAuthentic ?? false,
            failedURLs: failedURLs, seed: random.next(), now: clock())
        return try await store.write(.gathered) { try $0.recordRunEnd(id, result, rules) }
    }

    /// Retries transfers that the host refused while others were under way, because one of these has ended.
    func retryRefused(by host: String) async {
        let now = clock()
        do {
            try await store.write { tx in
                for task in try tx.cooldowns.refusedTasks(by: host, with: [403], after: now) {
                    try tx.transition(task, at: now) { $0.onRoomAtHost() }
                }
            }
        } catch {
            logger.report("tasks that wait for fewer transfers of their host could not be woken", error)
        }
    }
}
