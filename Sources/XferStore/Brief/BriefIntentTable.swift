public import XferModel

/// The publish intents of brief runs: `brief_intent`.
public struct BriefIntentTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The intents that a crash or a storage failure has left, ascending by task.
    public func all() throws(StoreError) -> [(task: TaskID, intent: PublishIntent)] {
        try connection.all(
            """
            SELECT task_id, name, device, inode, born_at, generation, length, modified_at, changed_at, digest
            FROM brief_intent ORDER BY task_id
            """
        ) { row in
            let facts = FileFacts(
                mark: row.mark(device: 2, inode: 3, bornAt: 4, generation: 5), length: row.amount(6),
                modifiedAt: row.integer(7), changedAt: row.integer(8))
            return (
                task: TaskID(row.integer(0)),
                intent: PublishIntent(
                    finalName: row.text(1), part: facts,
                    digest: row.optionalText(9).flatMap { try? Checksum(parsing: $0) })
            )
        }
    }
}

/// The files of brief runs that are about to get their names.
extension BriefIntentTable where Store == StoreTransaction {
    /// Records the state that a restart needs, before the first of these files gets its name.
    public func insert(_ intents: [(task: TaskID, intent: PublishIntent)]) throws(StoreError) {
        var rest = intents[...]
        while !rest.isEmpty {
            let share = rest.prefix(rest.count < Self.intentsOfOneStatement ? 1 : Self.intentsOfOneStatement)
            try insert(share)
            rest = rest.dropFirst(share.count)
        }
    }

    private static var intentsOfOneStatement: Int { 8 }

    private func insert(_ intents: ArraySlice<(task: TaskID, intent: PublishIntent)>) throws(StoreError) {
        var values: [Value] = []
        values.reserveCapacity(intents.count * 10)
        for (task, intent) in intents {
            let part = intent.part
            values += [
                Value(task), .text(intent.finalName), Value(bits: part.identity.device),
                Value(bits: part.identity.inode), Value(part.mark.bornAt), Value(part.mark.generation),
                .integer(part.length), .integer(part.modifiedAt), .integer(part.changedAt),
                Value(intent.digest?.description),
            ]
        }
        let name: StaticString = intents.count == 1 ? "one brief intent" : "brief intents"
        try connection.run(
            name,
            composed: """
                INSERT OR REPLACE INTO brief_intent (task_id, name, device, inode, born_at, generation, length,
                    modified_at, changed_at, digest) VALUES \(rows(of: 10, count: intents.count))
                """, values)
    }

    /// Records the published files of tasks whose intents were fulfilled, and removes the intents.
    public func recordPublished(_ tasks: [TaskID]) throws(StoreError) {
        let list = Value.text(JSONText.array(tasks.map(\.rawValue)))
        // The version is of no transfer; see `byteVersion`.
        try connection.run(
            """
            INSERT OR REPLACE INTO published_file
                (task_id, device, inode, length, born_at, generation, modified_at, digest, version)
            SELECT task_id, device, inode, length, born_at, generation, modified_at, digest, 'task.' || task_id
            FROM brief_intent WHERE task_id IN (SELECT value FROM json_each(?1))
            """, list)
        try remove(of: tasks)
    }

    public func remove(of tasks: [TaskID]) throws(StoreError) {
        try connection.run(
            "DELETE FROM brief_intent WHERE task_id IN (SELECT value FROM json_each(?1))",
            .text(JSONText.array(tasks.map(\.rawValue))))
    }
}
