/// Decides when the write-ahead log is moved into the database (in SQLite's terms: a checkpoint), and on which thread.
/// A value without effects; all lengths are in pages.
///
/// SQLite restarts the log when all of it has been moved and no reader uses it. While commits follow each other, a
/// thread that moves the log concurrently never reaches its end. So the thread moves most of the log, repeatedly, until
/// the rest is small enough to be moved between two commits. A long-running reader prevents a complete move; the move
/// is then retried when the log has grown further.
///
/// The log is moved concurrently with commits only while more than this rest is left. SQLite before 3.51.3 can lose
/// pages if a fully moved log is moved again concurrently with the commit that restarts it
/// (https://sqlite.org/wal.html#walresetbug).
struct WALCheckpointPlan {
    struct Limits: Sendable {
        /// The length from which the log is moved: 8 MiB. Syncing more at once would delay the commits' own syncs.
        var start = 2048
        /// The highest number of pages that are moved between two commits.
        var rest = 256
        /// The length at which commits wait until the log has been moved: 64 MiB. A start reads a log of this length in
        /// about 0.1 s.
        var bound = 16_384
    }

    /// The action before the next commit.
    enum Action: Equatable {
        case nothing
        /// Move the log concurrently with the following commits, then call `onMovedBeside`.
        case moveBeside
        /// Wait for the end of a concurrent move, move the whole log, then call `onMoved`.
        case move
    }

    /// The result of a move.
    enum Outcome: Equatable {
        /// This many pages of the log are in the database.
        case moved(Int)
        case refused
        /// The database could not be synced. Pages that were written to it before may be lost even if a later sync
        /// succeeds (fsync(2), "Notes"). Only a move of the log from its beginning repairs this.
        case unsynced
    }

    let limits: Limits
    private(set) var length = 0
    /// The number of the log's pages that are in the database.
    private(set) var moved = 0
    /// The number of pages reported as moved beyond the known length. They belong to an earlier log, or to commits that
    /// were not reported to `onCommit` yet.
    private var ahead = 0
    private var isMovingBeside = false
    /// The length below which no further move is attempted.
    private var nextTry = 0
    /// True if checkpoints have stopped. The next start repeats them from the log's beginning.
    private(set) var isGivenUp = false

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// Decides on a checkpoint. Call it after every commit, with the current length of the log.
    mutating func onCommit(length: Int) -> Action {
        if length < self.length {
            moved = 0
            nextTry = 0
        }
        self.length = length
        // A fully moved log is not moved concurrently with a commit that may begin it again.
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

    /// Records a move between two commits. A connection that still reads the log prevents its restart, so the next move
    /// waits until the log has grown by `rest`.
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
