public import XferModel

/// The kinds of data that a task stores beyond a short row.
enum StoredKind: String {
    /// The content of its request.
    case body
    /// The task's response, in the database or in a file of the spool directory.
    case result
    /// The copies of files that it sends, in the spool directory.
    case spool
    /// The task's URLs, header fields and `meta`.
    case row

    /// The number of bytes from which data is counted: counting less would cost more than the data does.
    var least: Int64 {
        switch self {
        case .body: 1024
        case .result, .spool: 4096
        case .row: 8192
        }
    }
}

/// The sizes of stored data: `task_bytes` and `owner_bytes`.
public struct StoredBytesTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// Returns the number of bytes that are stored for the tasks of a user, without small data.
    public func total(of owner: Owner) throws(StoreError) -> Int64 {
        try connection.first("SELECT bytes FROM owner_bytes WHERE owner = ?1", Value(owner)) { $0.amount(0) } ?? 0
    }
}

extension StoredBytesTable where Store == StoreTransaction {
    /// Records the size of a task's data, which replaces the previous records.
    func set(_ bytes: Int64, _ kind: StoredKind, of id: TaskID) throws(StoreError) {
        guard bytes >= kind.least else { return try remove(kind, of: id) }
        try connection.run(
            """
            INSERT INTO task_bytes (task_id, kind, owner, bytes) SELECT id, ?2, owner, ?3 FROM task WHERE id = ?1
            ON CONFLICT (task_id, kind) DO UPDATE SET bytes = excluded.bytes
            """, Value(id), .text(kind.rawValue), .integer(min(bytes, ByteCount.greatest)))
    }

    func remove(_ kind: StoredKind, of id: TaskID) throws(StoreError) {
        try connection.run(
            "DELETE FROM task_bytes WHERE task_id = ?1 AND kind = ?2", Value(id), .text(kind.rawValue))
    }
}
