public import XferModel

/// Reserved final names: a directory's inode and a name, so that two spellings of a path are one.
public struct ReservationTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The task that has reserved this name in this directory.
    public func holder(ofName name: String, in directory: FileIdentity) throws(StoreError) -> TaskID? {
        try connection.first(
            "SELECT task_id FROM reservation WHERE device = ?1 AND inode = ?2 AND name = ?3",
            Value(bits: directory.device), Value(bits: directory.inode), .text(name)
        ) { TaskID($0.integer(0)) }
    }
}

extension ReservationTable where Store == StoreTransaction {
    /// Reserves a final name for a task; false when another task has reserved it, true when this one already has.
    public func reserve(_ name: String, in directory: FileIdentity, by task: TaskID) throws(StoreError) -> Bool {
        try connection.run(
            """
            INSERT INTO reservation (device, inode, name, task_id) SELECT ?1, ?2, ?3, id FROM task WHERE id = ?4
            ON CONFLICT DO NOTHING
            """,
            Value(bits: directory.device), Value(bits: directory.inode), .text(name), Value(task))
        if connection.changeCount > 0 { return true }
        guard let holder = try holder(ofName: name, in: directory) else { throw .noSuchTask(task) }
        return holder == task
    }

    /// Releases all names that the task has reserved.
    public func release(of task: TaskID) throws(StoreError) {
        let held = try connection.all(
            "SELECT device, inode, name FROM reservation INDEXED BY reservation_task WHERE task_id = ?1", Value(task)
        ) { (device: $0.integer(0), inode: $0.integer(1), name: $0.text(2)) }
        // By their key: to delete by another index, SQLite makes a table of the keys first.
        for reservation in held {
            try connection.run(
                "DELETE FROM reservation WHERE device = ?1 AND inode = ?2 AND name = ?3", .integer(reservation.device),
                .integer(reservation.inode), .text(reservation.name))
        }
    }
}
