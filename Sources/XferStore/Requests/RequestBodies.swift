public import XferModel

/// The content of requests, stored separately from their tasks' rows.
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
        let length = Int64(clamping: text.utf8.count)
        if length >= StoredKind.body.least { try setStored(length, .body, of: id) }
    }
}

/// Files of the spool directory that are in use.
extension StoreReader {
    /// True if a task keeps its response in this file of the spool directory, or sends the file.
    public func isWanted(spoolFile name: String) throws(StoreError) -> Bool {
        try connection.first(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM task_result WHERE file_name = ?1)
                OR EXISTS (SELECT 1 FROM spooled_source WHERE name = ?1)
            """, .text(name)
        ) { _ in true } ?? false
    }

    /// The copies of its sources that a task sends.
    public func spooledSources(of id: TaskID) throws(StoreError) -> [String] {
        try connection.all("SELECT name FROM spooled_source WHERE task_id = ?1", Value(id)) { $0.text(0) }
    }

    /// Copies that failed tasks which finished before `olderThan` would send if they were retried.
    public func expiredSpooledSources(
        olderThan: Timestamp, limit: Int
    ) throws(StoreError) -> [(id: TaskID, name: String)] {
        try connection.all(
            """
            SELECT task.id, spooled_source.name FROM spooled_source JOIN task ON task.id = spooled_source.task_id
            WHERE task.state = 'failed' AND task.finished_at < ?1 LIMIT ?2
            """, Value(olderThan), Value(limit)
        ) { (id: TaskID($0.integer(0)), name: $0.text(1)) }
    }

    /// Returns the files in the spool directory that the task owns.
    public func spoolFiles(of id: TaskID) throws(StoreError) -> [String] {
        var names = try spooledSources(of: id)
        if case .file(let name)? = try result(of: id)?.content { names.append(name) }
        return names
    }
}

extension StoreTransaction {
    /// Records the copies that the task sends, of those of its files that have one.
    public func insertSpooledSources(of body: RequestBody, of id: TaskID) throws(StoreError) {
        var bytes: Int64 = 0
        for source in body.sources {
            guard let name = source.spoolName else { continue }
            try connection.run(
                "INSERT INTO spooled_source (name, task_id) VALUES (?1, ?2)", .text(name), Value(id))
            bytes = bytes.addingSaturated(source.length)
        }
        if bytes > 0 { try setStored(bytes, .spool, of: id) }
    }

    /// Removes copies that the task no longer sends.
    public func removeSpooledSources(of id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM spooled_source WHERE task_id = ?1", Value(id))
        try removeStored(.spool, of: id)
    }
}
