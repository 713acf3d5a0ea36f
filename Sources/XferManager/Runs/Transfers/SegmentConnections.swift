import XferCore
import XferCurl
import XferModel

/// The connections of a segmented transfer, for one round. A connection is an attempt that fetches a segment.
///
/// Each connection has a Swift task that makes its attempt and handles heads and checkpoints.
/// `SharedTransfer.bringSegments` alone assigns the segments, one `SegmentConnectionSignal` after the other.
struct SegmentConnections {
    /// The segments and the connection that fetches each; nil until a response has shown that the body can be split.
    var plan: SegmentPlan?
    /// False after the source made the transfer start over.
    let maySplit: Bool
    /// The attempt of each live connection; its value is nil until the engine has reported an event.
    var live: [Int: AttemptHandle?] = [:]
    /// When each connection's attempt was started.
    var began: [Int: MonotonicInstant] = [:]
    /// Whether a response head was accepted, so that further connections may start.
    var isOpen = false
    /// Whether the server ignores ranges. An attempt then requests everything after the first gap.
    var isOneStream = false
    /// Whether a connection has given a part of its segment to another.
    var hasSplit = false
    /// Whether a single connection was tried after the last of several had failed.
    var hasTriedAlone = false
    /// How the round ends once no connection is live.
    var verdict: Result<AttemptOutcome.Result, any Error>?
    /// Bytes of all connections that are written and not durable yet.
    let stake = SharedStake()
    /// SegmentConnections that were asked to stop because there are too many.
    var retiring: Set<Int> = []
    let signals: AsyncStream<SegmentConnectionSignal>.Continuation

    /// The lowest number that no live connection has.
    var freeNumber: Int { (0...live.count).first { live[$0] == nil } ?? live.count }

    /// The attempt of a connection; nil until the engine has reported an event.
    func handle(of connection: Int) -> AttemptHandle? { live[connection] ?? nil }

    /// Records the offset of each connection and returns it. A sync that begins now is sure to cover only the bytes
    /// below these offsets.
    @discardableResult
    mutating func noteProgress() -> [(id: AttemptID, offset: Int64)] {
        var marks: [(id: AttemptID, offset: Int64)] = []
        for case (let connection, let handle?) in live {
            let offset = handle.progress.snapshot.offset
            plan?.onWritten(connection, to: offset)
            marks.append((handle.id, offset))
        }
        return marks
    }
}

/// What a connection reports to `SharedTransfer.bringSegments`.
enum SegmentConnectionSignal: Sendable {
    /// The plan may have changed, so that other connections may get work.
    case looked
    case ended(Int, Result<AttemptOutcome, any Error>)
}

/// Why a connection gives up its attempt. Nothing of the response was written.
enum SegmentConnectionLoss: Error {
    /// The server sent the whole body, or started too far before the segment.
    case rangeIgnored
    /// The response is not, or may not be, of the version that the other connections fetch.
    case otherVersion(RestartReason)
    /// The round is ending.
    case unwanted
}
