import XferCore
import XferModel

/// The contents of the next report to the fleet, and the actions in the daemon after it.
struct Outbox: Sendable {
    var report = FleetReport()
    /// Tasks of the daemon that are removed after the report.
    var removed: [TaskID] = []

    var isEmpty: Bool {
        report.ends.isEmpty && report.releases.isEmpty && report.progress.isEmpty && report.wishes.isEmpty
    }

    mutating func end(
        _ claimKey: FleetClaimKey, _ ending: FleetEnding, detail: String, result: [UInt8]?, removing local: TaskID?
    ) {
        guard !mentions(claimKey) else { return }
        report.ends.append(FleetEnd(claimKey: claimKey, ending: ending, detail: detail, result: result))
        if let local { removed.append(local) }
    }

    mutating func release(_ claimKey: FleetClaimKey, _ next: FleetRelease.Next, reason: String = "") {
        guard !mentions(claimKey) else { return }
        report.releases.append(FleetRelease(claimKey: claimKey, next: next, reason: reason))
    }

    /// True if the report contains the claim: a claim is returned once.
    private func mentions(_ claimKey: FleetClaimKey) -> Bool {
        report.ends.contains { $0.claimKey == claimKey } || report.releases.contains { $0.claimKey == claimKey }
    }
}
