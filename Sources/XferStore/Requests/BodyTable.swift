public import XferModel

/// The content of requests, stored separately from their tasks' rows.
public struct BodyTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The content of the task's request; nil when it has none.
    public func find(of id: TaskID) throws(StoreError) -> RequestBody? {
        let text = try connection.first("SELECT body FROM request_body WHERE task_id = ?1", Value(id)) { $0.text(0) }
        guard let text else { return nil }
        guard let body = JSONText.decode(RequestBody.self, from: text) else {
            throw .unreadable(table: "request_body", id: id.rawValue, column: "body")
        }
        return body
    }
}

extension BodyTable where Store == StoreTransaction {
    func insert(_ text: String, of id: TaskID) throws(StoreError) {
        try connection.run("INSERT INTO request_body (task_id, body) VALUES (?1, ?2)", Value(id), .text(text))
        let length = Int64(clamping: text.utf8.count)
        if length >= StoredKind.body.least { try store.storedBytes.set(length, .body, of: id) }
    }
}
