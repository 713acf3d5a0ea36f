public import XferModel

/// Errors of the database.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The database was written by a newer program: schema versions found and known. The file is unchanged.
    case newerDatabase(path: String, found: Int, known: Int)
    /// The database was written before the first release: schema versions found and the oldest that can be read.
    case olderDatabase(path: String, found: Int, oldest: Int)
    /// An SQLite database of another program, or no database at all. The file is untouched.
    case foreignFile(path: String)
    /// The file cannot be opened, made or migrated.
    case cannotOpen(path: String, reason: String)
    /// `PRAGMA synchronous` did not become FULL (2): commits would not survive a power cut.
    case notDurable(synchronous: Int)
    /// The findings of the checks, at most 100 lines.
    case damaged([String])
    /// The last commit failed for lack of space or an I/O error; a probe every few seconds ends this state.
    case degraded(reason: String)
    /// The file no longer has its name, so that a write would be lost.
    case vanished(path: String)
    /// The store was closed.
    case closed
    /// SQLite's extended result code (https://sqlite.org/rescode.html) and message.
    case sqlite(code: Int32, message: String)
    /// A row has a value that this program cannot read.
    case unreadable(table: String, id: Int64, column: String)
    /// A row that the change needs is not there.
    case noSuchTask(TaskID)
    case noSuchTransfer(TransferID)
    /// A move before or after a task of another lane.
    case otherLane(TaskID)
    /// The change-set would change a task whose start is not committed; see `UncommittedStarts`. `GroupCommit` executes
    /// it again once the task is released, and no caller gets this error.
    case uncommittedStart(TaskID)
    /// A list's cursor was not made by this program, or belongs to another filter or order.
    case invalidCursor

    /// True if an operator has to repair the database: another attempt would fail, too.
    public var isDamage: Bool {
        switch self {
        case .damaged, .newerDatabase, .olderDatabase, .foreignFile, .unreadable: true
        case .sqlite(let code, _): Self.codesOfDamage.contains(code & 0xFF)
        case .cannotOpen, .notDurable, .degraded, .vanished, .closed, .noSuchTask, .noSuchTransfer,
            .otherLane, .uncommittedStart, .invalidCursor:
            false
        }
    }

    /// The result of `read`, or nil if a row that it needs is unreadable, so that one damaged row does not fail work on
    /// others.
    public static func nilIfUnreadable<Value>(_ read: () throws -> Value?) throws -> Value? {
        do {
            return try read()
        } catch StoreError.unreadable {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .newerDatabase(let path, let found, let known):
            "\(path) was written by a newer program: it has schema \(found), this program knows up to \(known)"
        case .olderDatabase(let path, let found, let oldest):
            "\(path) has schema \(found), expected \(oldest) or higher: it was written before xferd 1.0.0-rc.1. Start that "
                + "release once with it, which upgrades it, or move it away to begin with an empty queue"
        case .foreignFile(let path): "\(path) is not a database of this program"
        case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
        case .notDurable(let synchronous): "PRAGMA synchronous is \(synchronous), expected 2 (FULL)"
        case .damaged(let findings): "the database is damaged: \(findings.joined(separator: "; "))"
        case .degraded(let reason): "the database cannot be written: \(reason)"
        case .vanished(let path):
            "\(path) was deleted, moved or replaced while it was in use: put it back; a restart of the daemon would begin an empty queue"
        case .closed: "the database is closed"
        case .sqlite(let code, let message): "SQLite error \(code): \(message)"
        case .unreadable(let table, let id, let column): "\(table) \(id) has an unreadable \(column)"
        case .noSuchTask(let id): "no task \(id)"
        case .noSuchTransfer(let id): "no transfer \(id)"
        case .otherLane(let id): "task \(id) is of another host, group, profile or priority"
        case .uncommittedStart(let id): "task \(id) runs, and its start is not committed yet"
        case .invalidCursor: "the cursor does not belong to this filter and order"
        }
    }
}
