import XferCore
import XferCurl
import XferModel

/// The lanes of a segmented transfer, for one round. A lane is an attempt that fetches a segment.
///
/// Each lane has a Swift task that makes its attempt and handles heads and checkpoints. `SharedTransfer.bringSegments`
/// alone assigns the segments, one `LaneSignal` after the other.
struct Lanes {
    /// The segments and the lane that fetches each; nil until a response has shown that the body can be split.
    var plan: SegmentPlan?
    /// False after the source made the transfer start over.
    let maySplit: Bool
    /// The attempt of each live lane; its value is nil until the engine has reported an event.
    var live: [Int: AttemptHandle?] = [:]
    /// When each lane's attempt was started.
    var began: [Int: MonotonicInstant] = [:]
    /// Whether a response head was accepted, so that further lanes may start.
    var isOpen = false
    /// Whether the server ignores ranges. An attempt then requests everything after the first gap.
    var isOneStream = false
    /// Whether a lane has given a part of its segment to another.
    var hasSplit = false
    /// Whether a single lane was tried after the last of several had failed.
    var hasTriedAlone = false
    /// How the round ends once no lane is live.
    var verdict: Result<AttemptOutcome.Result, any Error>?
    /// Bytes of all lanes that are written and not durable yet.
    let stake = SharedStake()
    /// Lanes that were asked to stop because there are too many.
    var retiring: Set<Int> = []
    let signals: AsyncStream<LaneSignal>.Continuation

    /// The lowest number that no live lane has.
    var freeLane: Int { (0...live.count).first { live[$0] == nil } ?? live.count }

    /// The attempt of a lane; nil until the engine has reported an event.
    func handle(of lane: Int) -> AttemptHandle? { live[lane] ?? nil }

    /// Records the offset of each lane and returns it. A sync that begins now is sure to cover only the bytes below
    /// these offsets.
    @discardableResult
    mutating func noteProgress() -> [(id: AttemptID, offset: Int64)] {
        var marks: [(id: AttemptID, offset: Int64)] = []
        for case (let lane, let handle?) in live {
            let offset = handle.progress.snapshot.offset
            plan?.onWritten(lane, to: offset)
            marks.append((handle.id, offset))
        }
        return marks
    }
}

/// What a lane reports to `SharedTransfer.bringSegments`.
enum LaneSignal: Sendable {
    /// The plan may have changed, so that other lanes may get work.
    case looked
    case ended(Int, Result<AttemptOutcome, any Error>)
}

/// Why a lane gives up its attempt. Nothing of the response was written.
enum LaneLoss: Error {
    /// The server sent the whole body, or started too far before the segment.
    case rangeIgnored
    /// The response is not, or may not be, of the version that the other lanes fetch.
    case otherVersion(RestartReason)
    /// The round is ending.
    case unwanted
}
