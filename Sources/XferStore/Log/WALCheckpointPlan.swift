/// When the write-ahead log is moved into the database (SQLite's word is checkpoint), and on which thread: a pure
/// decision. Lengths are pages.
///
/// SQLite begins the log anew when all of it has been moved and no reader uses it. While commits follow each other, a
/// thread that moves it beside them is always a little behind. So the thread moves the bulk, again and again, until the
/// rest is small enough to be moved between two commits. A long reader keeps the log from being moved completely: then
/// the move is retried from time to time.
///
/// Beside commits the log is only moved while more than that rest is left. SQLite before 3.51.3 can lose pages when a
/// move of a log that is all in the database runs beside the commit that begins it anew
/// (https://sqlite.org/wal.html#walresetbug).
struct WALCheckpointPlan {
    struct Limits: Sendable {
        /// The length from which the log is moved: 8 MiB. A larger sync would delay the commits' own syncs.
        var start = 2048
        /// The most that is moved between two commits.
        var rest = 256
        /// The length at which commits wait until the log has been moved: 64 MiB, which a start reads in a tenth of a
        /// second.
        var bound = 16_384
    }

    /// What has to be done before the next commit.
    enum Action: Equatable {
        case nothing
        /// Have it moved beside the commits that follow, then call `onMovedBeside`.
        case moveBeside
        /// Move all of it, after a move beside the commits has ended; then call `onMoved`.
        case move
    }

    /// The result of a move.
    enum Outcome: Equatable {
        /// This many pages of the log are in the database.
        case moved(Int)
        case refused
        /// The database could not be synced. What was written to it before may be lost, though a further sync would
        /// succeed (fsync(2), "Notes"): only a log that is moved from its beginning makes up for it.
        case unsynced
    }

    let limits: Limits
    private(set) var length = 0
    /// Pages that are in the database.
    private(set) var moved = 0
    /// Pages reported as moved beyond the known length: of an earlier log, or of commits that `onCommit` has not
    /// reported yet.
    private var ahead = 0
    private var isMovingBeside = false
    /// The length at which the next attempt is made after one that moved nothing.
    private var nextTry = 0
    /// The log is not moved any more: the next start will do it, from the log's beginning.
    private(set) var isGivenUp = false

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// After every commit, with the length the log has now.
    mutating func onCommit(length: Int) -> Action {
        if length < self.length {
            moved = 0
            nextTry = 0
        }
        self.length = length
        // A log that is all in the database is not moved beside a commit that may begin it anew.
        if length >= ahead { moved = max(moved, ahead) }
        ahead = 0
        guard !isGivenUp, length >= limits.start, length >= nextTry else { return .nothing }
        if length >= limits.bound { return .move }
        guard !isMovingBeside else { return .nothing }
        if length - moved <= limits.rest { return .move }
        isMovingBeside = true
        return .moveBeside
    }

    mutating func onMovedBeside(_ outcome: Outcome) {
        isMovingBeside = false
        let before = moved
        apply(outcome)
        if moved <= before { nextTry = length + limits.start / 4 }
    }

    /// As `onMovedBeside`, between two commits. A connection that still reads in the log keeps it from beginning anew.
    mutating func onMoved(_ outcome: Outcome) {
        apply(outcome)
        nextTry = length + limits.rest
    }

    private mutating func apply(_ outcome: Outcome) {
        switch outcome {
        case .moved(let pages) where pages <= length: moved = pages
        case .moved(let pages): ahead = pages
        case .refused: break
        case .unsynced: isGivenUp = true
        }
    }
}
