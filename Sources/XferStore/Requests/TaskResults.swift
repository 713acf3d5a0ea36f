public import XferModel

/// A response that was kept.
public struct StoredResult: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case inline([UInt8])
        /// A file's name within the spool directory.
        case file(String)
    }

    public var content: Content
    /// Bytes.
    public var length: Int64
    /// JSON text of the object that was made of it.
    public var object: String?

    public init(content: Content, length: Int64, object: String? = nil) {
        self.content = content
        self.length = length
        self.object = object
    }
}

extension StoreReader {
    /// Nil when the task kept nothing.
    public func result(of id: TaskID) throws(StoreError) -> StoredResult? {
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
            return StoredResult(content: content, length: row.integer(0), object: row.optionalText(3))
        }
    }

    /// Whether a task keeps its response in this file of the spool directory.
    public func hasResult(inFile name: String) throws(StoreError) -> Bool {
        try connection.first("SELECT 1 FROM task_result WHERE file_name = ?1", .text(name)) { _ in true } ?? false
    }
}

extension StoreTransaction {
    /// Replaces what the task kept before.
    public func setResult(_ result: StoredResult, of id: TaskID) throws(StoreError) {
        var bytes: [UInt8]?
        var name: String?
        switch result.content {
        case .inline(let content): bytes = content
        case .file(let file): name = file
        }
        try connection.run(
            """
            INSERT OR REPLACE INTO task_result (task_id, length, content, file_name, object)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, Value(id), .integer(result.length), Value(bytes), Value(name), Value(result.object))
    }

    /// Nothing happens when nothing was kept.
    public func removeResult(of id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM task_result WHERE task_id = ?1", Value(id))
    }
}
