import GRDB
import XferModel

/// What can be read from the database: a snapshot in `TaskStore.read`, the transaction so far in `TaskStore.write`.
///
/// Valid only within the closure it is given to. The queries are in extensions, in the folder of their concept.
public class StoreReader {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Brings the tables that are kept by differences up to date: called before they are read.
    func settle() throws(StoreError) {}
}

/// A `StoreReader` that can also change the database. One object serves all transactions of the writer.
public final class StoreTransaction: StoreReader {
    /// Differences from change-sets of this group that are done, and from the one that is being executed.
    private var settledLater = QueueChanges()
    var changes = QueueChanges()
    /// What `settledLater` was before a change-set, not yet done, wrote it out.
    private var settledWithin: QueueChanges?
    private var events: [Event] = []

    // MARK: The group's transaction

    func begin() throws(StoreError) {
        connection.startAfresh()
        forgetGroup()
        do {
            try connection.database.beginTransaction(.immediate)
        } catch {
            throw StoreError(from: error)
        }
    }

    func commit() throws(StoreError) {
        try settle()
        do {
            try connection.database.commit()
        } catch {
            throw StoreError(from: error)
        }
    }

    /// After a failed `begin` or `commit`, too.
    func rollBack() {
        // SQLite may have undone the transaction by itself; nothing else can go wrong here that a COMMIT could tell.
        try? connection.database.rollback()
        forgetGroup()
    }

    private func forgetGroup() {
        settledLater = QueueChanges()
        changes = QueueChanges()
        settledWithin = nil
        events = []
    }

    /// The events of the transaction that was committed, in the order of their numbers.
    func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    func remember(_ event: Event) { events.append(event) }

    // MARK: One change-set's savepoint

    /// Runs `body` in a savepoint. What it throws undoes the savepoint and is answered; thrown here is what undid the
    /// whole transaction.
    func isolate(_ body: (StoreTransaction) throws -> Void) throws(StoreError) -> (any Error)? {
        let eventCount = events.count
        try connection.run("SAVEPOINT change_set")
        do {
            try body(self)
            if let abortion = connection.abortion { throw abortion }
        } catch {
            if let abortion = connection.abortion { throw abortion }
            // A full disk or a broken one is the group's affair: the next statement would find it, too.
            if let error = error as? StoreError, error.isStorageFailure { throw error }
            try connection.run("ROLLBACK TO change_set")
            try connection.run("RELEASE change_set")
            changes = QueueChanges()
            if let settledWithin { settledLater = settledWithin }
            settledWithin = nil
            events.removeSubrange(eventCount...)
            return error
        }
        try connection.run("RELEASE change_set")
        settledLater.merge(changes)
        changes = QueueChanges()
        settledWithin = nil
        return nil
    }

    override func settle() throws(StoreError) {
        guard !settledLater.isEmpty || !changes.isEmpty else { return }
        let before = settledLater
        settledLater.merge(changes)
        try write(settledLater)
        settledWithin = settledWithin ?? before
        settledLater = QueueChanges()
        changes = QueueChanges()
    }
}
