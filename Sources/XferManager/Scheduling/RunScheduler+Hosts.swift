import Logging
import XferCore
import XferModel
import XferStore

/// The number of transfers that a host serves at once, for hosts that refuse more.
extension RunScheduler {
    /// The transfers of the host whose bodies arrive now, besides this one.
    func servedTransfers(of host: String, besides transfer: TransferID) -> Int {
        let served = runs.values.filter {
            $0.host == host && $0.transfer != transfer && $0.control.progress.phase == .transferring
        }
        return Set(served.map(\.transfer)).count
    }

    /// The transfers of this task's host whose bodies arrive now, besides the task's own.
    func servedTransfers(besides id: TaskID) -> Int {
        runs[id].map { servedTransfers(of: $0.host, besides: $0.transfer) } ?? 0
    }

    /// The number of other transfers that may explain why this run's host has refused it; see `Refusal.meaning`.
    func othersOfHost(_ id: TaskID, _ result: RunResult) -> Int {
        guard let live = runs[id], result.isRefused else { return 0 }
        return hosts.onRefusal(
            by: live.host, whileServing: servedTransfers(of: live.host, besides: live.transfer))
    }

    /// Records that the last byte of a transfer has arrived.
    func recordServed(_ transfer: TransferID) {
        guard !hosts.isEmpty, let host = runs.values.first(where: { $0.transfer == transfer })?.host,
            hosts.isInQuestion(host)
        else { return }
        hosts.onServed(by: host, count: servedTransfers(of: host, besides: transfer) + 1)
    }

    /// Removes a host when its last run has ended.
    func forgetIdle(_ host: String) {
        guard hosts.isInQuestion(host), !runs.values.contains(where: { $0.host == host }) else { return }
        hosts.forget(host)
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

extension RunResult {
    /// True if the host has refused the request, perhaps because it serves others.
    var isRefused: Bool {
        guard case .failed(let error) = end, let status = error.httpStatus else { return false }
        return [403, 429, 503].contains(status)
    }
}
