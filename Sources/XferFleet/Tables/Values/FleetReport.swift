public import XferCore
import XferModel

/// A node's report, which is one transaction.
public struct FleetReport: Hashable, Sendable {
    /// The local daemon's last event that this report covers; nil leaves it unchanged.
    var applied: Int64?
    public var ends: [FleetEnd] = []
    var releases: [FleetRelease] = []
    var progress: [FleetProgress] = []
    /// Wishes that the node has carried out, or that it cannot carry out.
    var wishes: [Int64] = []

    public init(applied: Int64? = nil) { self.applied = applied }
}

/// A task that has ended on the node.
public struct FleetEnd: Hashable, Sendable {
    var claimKey: FleetClaimKey
    var ending: FleetEnding
    /// JSON text with the error, the file, the counters, for `task.get` and the event. At most 64 KiB.
    var detail: String
    /// The response of a task of kind `data`; nil for none. At most `resultLimit` bytes.
    var result: [UInt8]?

    /// The largest result in bytes, 1 MiB: larger results stay with the node.
    static let resultLimit = 1 << 20
    /// The longest detail in bytes of UTF-8.
    static let detailLimit = 1 << 16

    public init(claimKey: FleetClaimKey, ending: FleetEnding, detail: String = "{}", result: [UInt8]? = nil) {
        self.claimKey = claimKey
        self.ending = ending
        self.detail = detail
        self.result = result
    }
}

/// A claim that the node returns without an end.
struct FleetRelease: Hashable, Sendable {
    enum Next: Hashable, Sendable {
        /// Returns the task to the head of its lane, because it was handed over, has not begun, or its node is
        /// draining.
        case queue
        /// Queues the task again, but not for this node.
        case decline
        /// A wish to pause was carried out.
        case paused
        /// Moves the task to the head of the lane of another place, as a wish requested.
        case move(FleetPlace)
    }

    var claimKey: FleetClaimKey
    var next: Next
    /// The text that is shown with the task; at most 1,000 bytes, longer texts are cut.
    var reason = ""
}

/// The progress of a task. Not durable: lost when the server crashes.
struct FleetProgress: Hashable, Sendable {
    var claimKey: FleetClaimKey
    /// The length in bytes.
    var received: Int64
    /// Bytes; nil if unknown.
    var total: Int64?
}

/// The result of a report.
public struct FleetReportOutcome: Hashable, Sendable {
    /// Tasks whose claim is void: the node stops them, keeps the bytes and publishes nothing. Nothing of them was
    /// written.
    let lost: [FleetTaskID]
}
