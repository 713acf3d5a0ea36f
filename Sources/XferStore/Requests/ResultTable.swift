public import XferModel

/// A response that was kept.
public struct StoredResult: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case inline([UInt8])
        /// A file's name within the spool directory.
        case file(String)
    }

    public var content: Content
    /// The length in bytes.
    public var length: Int64
    /// JSON text of the object parsed from the response.
    public var object: String?

    public init(content: Content, length: Int64, object: String? = nil) {
        self.content = content
        self.length = length
        self.object = object
    }
}

/// The responses of requests: `task_result`.
public struct ResultTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The stored result, or nil when the task has none.
    public func find(of id: TaskID) throws(StoreError) -> StoredResult? {
        try connection.first(
            "SELECT length, content, file_name, object FROM task_result WHERE task_id = ?1", Value(id)
        ) { row throws(StoreError) in
            let content: StoredResult.Content
            if let bytes = row.optionalBlob(1) {
                content = .inline(bytes)
            } else if let name = row.optionalText(2) {
                content = .file(name)
            } else {
                throw .unreadable(table: "task_result", id: id.rawValue, column: "content")
            }
            return StoredResult(content: content, length: row.amount(0), object: row.optionalText(3))
        }
    }

    /// Tasks whose response was stored before `olderThan`, oldest first, with the spool file it is in.
    public func expired(
        olderThan: Timestamp, limit: Int
    ) throws(StoreError) -> [(id: TaskID, file: String?)] {
        try connection.all(
            "SELECT task_id, file_name FROM task_result WHERE kept_at < ?1 ORDER BY kept_at LIMIT ?2",
            Value(olderThan), Value(limit)
        ) { (id: TaskID($0.integer(0)), file: $0.optionalText(1)) }
    }
}

extension ResultTable where Store == StoreTransaction {
    /// Replaces the task's stored result.
    public func set(_ result: StoredResult, of id: TaskID, at time: Timestamp) throws(StoreError) {
        var bytes: [UInt8]?
        var name: String?
        switch result.content {
        case .inline(let content): bytes = content
        case .file(let file): name = file
        }
        try connection.run(
            """
            INSERT OR REPLACE INTO task_result (task_id, length, content, file_name, object, kept_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, Value(id), .integer(result.length), Value(bytes), Value(name), Value(result.object), Value(time))
        try store.storedBytes.set(result.length, .result, of: id)
    }

    /// Removes the stored result, if there is one.
    public func remove(of id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM task_result WHERE task_id = ?1", Value(id))
        try store.storedBytes.remove(.result, of: id)
    }
}
