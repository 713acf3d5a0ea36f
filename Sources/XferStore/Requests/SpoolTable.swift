public import XferModel

/// Files of the spool directory that are in use.
public struct SpoolTable<Store: StoreReader>: StoreTable {
    public let store: Store

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
    public func sources(of id: TaskID) throws(StoreError) -> [String] {
        try connection.all("SELECT name FROM spooled_source WHERE task_id = ?1", Value(id)) { $0.text(0) }
    }

    /// Copies that failed tasks which finished before `olderThan` would send if they were retried.
    public func expiredSources(
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
    public func files(of id: TaskID) throws(StoreError) -> [String] {
        var names = try sources(of: id)
        if case .file(let name)? = try store.results.find(of: id)?.content { names.append(name) }
        return names
    }
}

extension SpoolTable where Store == StoreTransaction {
    /// Records the copies that the task sends, of those of its files that have one.
    public func insertSources(of body: RequestBody, of id: TaskID) throws(StoreError) {
        var bytes: Int64 = 0
        for source in body.sources {
            guard let name = source.spoolName else { continue }
            try connection.run(
                "INSERT INTO spooled_source (name, task_id) VALUES (?1, ?2)", .text(name), Value(id))
            bytes = bytes.addingSaturated(source.length)
        }
        if bytes > 0 { try store.storedBytes.set(bytes, .spool, of: id) }
    }

    /// Removes copies that the task no longer sends.
    public func removeSources(of id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM spooled_source WHERE task_id = ?1", Value(id))
        try store.storedBytes.remove(.spool, of: id)
    }
}
