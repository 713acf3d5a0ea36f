import XferCore
import XferFleet
import XferModel

/// The contents of the next report to the fleet, and the actions in the daemon after it.
struct Outbox: Sendable {
    var report = FleetReport()
    /// Tasks of the daemon that are over here after the report.
    var removed: [TaskID] = []

    var isEmpty: Bool {
        report.ends.isEmpty && report.releases.isEmpty && report.progress.isEmpty && report.wishes.isEmpty
    }

    mutating func end(
        _ hold: FleetHold, _ ending: FleetEnding, detail: String, result: [UInt8]?, removing local: TaskID?
    ) {
        guard !mentions(hold) else { return }
        report.ends.append(FleetEnd(hold: hold, ending: ending, detail: detail, result: result))
        if let local { removed.append(local) }
    }

    mutating func release(_ hold: FleetHold, _ next: FleetRelease.Next, reason: String = "") {
        guard !mentions(hold) else { return }
        report.releases.append(FleetRelease(hold: hold, next: next, reason: reason))
    }

    /// A claim is given back once.
    private func mentions(_ hold: FleetHold) -> Bool {
        report.ends.contains { $0.hold == hold } || report.releases.contains { $0.hold == hold }
    }
}
