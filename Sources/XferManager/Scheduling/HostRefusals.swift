import XferCore
import XferModel

/// Refusals of hosts that receive too many requests at once.
struct HostRefusals {
    /// The highest number of times that a task is queued again for its host's refusals without counting as an attempt.
    private static let mostBackOffs = 3
    /// The highest number of tasks whose count of these is remembered.
    private static let mostBackedOff = 1024

    /// The known numbers of transfers that hosts serve at once, for hosts that refuse more.
    private var concurrency = HostConcurrency()
    /// The number of times that tasks were queued again because their hosts refused too many concurrent requests.
    private var backOffs: [TaskID: Int] = [:]

    /// True if the number of served transfers of this host matters.
    func isInQuestion(_ host: String) -> Bool { concurrency.isInQuestion(host) }

    /// Records a run's end. Returns the number of other transfers that may explain why its host has refused it; see
    /// `Refusal.meaning`.
    mutating func onRunEnd(_ id: TaskID, _ result: RunResult, in table: RunTable) -> Int {
        guard let live = table.runs[id], result.isRefused else { return 0 }
        return concurrency.onRefusal(
            by: live.host, whileServing: table.servedTransfers(of: live.host, besides: live.transfer))
    }

    /// Records that the last byte of a transfer has arrived.
    mutating func onBodyEnd(of transfer: TransferID, in table: RunTable) {
        guard !concurrency.isEmpty, let host = table.runs.values.first(where: { $0.transfer == transfer })?.host,
            concurrency.isInQuestion(host)
        else { return }
        concurrency.onServed(by: host, count: table.servedTransfers(of: host, besides: transfer) + 1)
    }

    /// Removes a host when its last run has ended.
    mutating func forgetIdle(_ host: String, in table: RunTable) {
        guard concurrency.isInQuestion(host), !table.runs.values.contains(where: { $0.host == host }) else { return }
        concurrency.forget(host)
    }

    /// Counts that a task is queued again. Returns false if that would be too often.
    mutating func backOff(_ id: TaskID) -> Bool {
        if backOffs.count >= Self.mostBackedOff, backOffs[id] == nil { backOffs = [:] }
        let count = backOffs[id, default: 0]
        guard count < Self.mostBackOffs else { return false }
        backOffs[id] = count + 1
        return true
    }

    /// Removes the count of a task that was not refused.
    mutating func forgetBackOffs(of id: TaskID) { backOffs[id] = nil }
}

extension RunResult {
    /// True if the host has refused the request, perhaps because it serves others.
    var isRefused: Bool {
        guard case .failed(let error) = end, let status = error.httpStatus else { return false }
        return [403, 429, 503].contains(status)
    }
}
