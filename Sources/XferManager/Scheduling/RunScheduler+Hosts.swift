import XferCore
import XferModel

/// How many transfers a host serves at once, for hosts that refuse some.
extension RunScheduler {
    /// The transfers of the host whose bodies arrive now, besides this one.
    private func servedTransfers(of host: String, besides transfer: TransferID) -> Int {
        let served = runs.values.filter {
            $0.host == host && $0.transfer != transfer && $0.control.progress.phase == .transferring
        }
        return Set(served.map(\.transfer)).count
    }

    /// The number of other transfers that may explain why this run's host has refused it; see `Refusal.meaning`.
    func othersOfHost(_ id: TaskID, _ result: RunResult) -> Int {
        guard let live = runs[id], case .failed(let error) = result.end, let status = error.httpStatus,
            [403, 429, 503].contains(status)
        else { return 0 }
        return hosts.onRefusal(
            by: live.host, whileServing: servedTransfers(of: live.host, besides: live.transfer))
    }

    /// The last byte of a transfer has arrived.
    func recordServed(_ transfer: TransferID) {
        guard !hosts.isEmpty, let host = runs.values.first(where: { $0.transfer == transfer })?.host,
            hosts.isInQuestion(host)
        else { return }
        hosts.onServed(by: host, count: servedTransfers(of: host, besides: transfer) + 1)
    }

    /// A run of the host has ended and is forgotten.
    func forgetIdle(_ host: String) {
        guard hosts.isInQuestion(host), !runs.values.contains(where: { $0.host == host }) else { return }
        hosts.forget(host)
    }
}
