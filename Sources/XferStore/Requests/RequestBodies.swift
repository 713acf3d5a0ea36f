public import XferModel

/// Requests' content, kept beside their tasks' rows.
extension StoreReader {
    /// The content of the task's request; nil when it has none.
    public func body(of id: TaskID) throws(StoreError) -> RequestBody? {
        let text = try connection.first("SELECT body FROM request_body WHERE task_id = ?1", Value(id)) { $0.text(0) }
        guard let text else { return nil }
        guard let body = JSONText.decode(RequestBody.self, from: text) else {
            throw .unreadable(table: "request_body", id: id.rawValue, column: "body")
        }
        return body
    }
}

extension StoreTransaction {
    func insertBody(_ text: String, of id: TaskID) throws(StoreError) {
        try connection.run("INSERT INTO request_body (task_id, body) VALUES (?1, ?2)", Value(id), .text(text))
    }
}
