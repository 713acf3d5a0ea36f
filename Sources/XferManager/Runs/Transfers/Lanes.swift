import XferCore
import XferCurl
import XferModel

/// The lanes of a transfer whose body comes in segments, for one round.
///
/// A lane's own Swift task makes its attempts and tells heads and checkpoints; which lane fetches what is decided in one
/// place and one thing after the other, as `LaneSignal`s come.
struct Lanes {
    /// What the pieces are and who has them; nil until a head has said that there can be several.
    var plan: SegmentPlan?
    /// False where the source has made the transfer start over.
    let maySplit: Bool
    /// By lane: its attempt, once the engine has told something of it.
    var live: [Int: AttemptHandle?] = [:]
    /// When a lane's attempt began to be made.
    var began: [Int: MonotonicInstant] = [:]
    /// Whether a head was judged good, so that others may ask.
    var isOpen = false
    /// The server sends nothing but the whole: whoever asks, asks for all that is missing behind the first gap.
    var isOneStream = false
    /// Whether a lane ever left a part to another.
    var hasSplit = false
    /// Whether it was tried once more after the last of several had failed.
    var hasTriedAlone = false
    /// How the round ends once nobody is live any more.
    var verdict: Result<AttemptOutcome.Result, any Error>?
    /// What the lanes have at stake together.
    let stake = SharedStake()
    /// Lanes that were told to end because there are too many.
    var retiring: Set<Int> = []
    let signals: AsyncStream<LaneSignal>.Continuation

    /// The lowest number that no live lane has.
    var freeLane: Int { (0...live.count).first { live[$0] == nil } ?? live.count }

    /// The attempt of a lane.
    func handle(of lane: Int) -> AttemptHandle? { live[lane] ?? nil }

    /// Notes how far the lanes are. Answers it: what is written below, and no more, a sync that begins now makes durable.
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

/// What a lane tells whoever hands out the work.
enum LaneSignal: Sendable {
    /// Something has changed by which other lanes may get work.
    case looked
    case ended(Int, Result<AttemptOutcome, any Error>)
}

/// Why a lane gives up its attempt by itself: nothing of the answer was written.
enum LaneLoss: Error {
    /// It was sent the whole, or more than a little before its segment.
    case rangeIgnored
    /// Its answer is not, or may not be, of the version the others bring.
    case otherVersion(RestartReason)
    /// The round is ending.
    case unwanted
}
