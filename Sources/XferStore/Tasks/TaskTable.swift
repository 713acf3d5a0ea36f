public import XferModel

/// The tasks: `task`.
public struct TaskTable<Store: StoreReader>: StoreTable {
    public let store: Store

    public func find(_ id: TaskID) throws(StoreError) -> TransferTask? {
        if let known = store.known(id) { return known }
        guard let read = try row(of: id) else { return nil }
        store.remember(read, rank: read.rank)
        return read
    }

    func row(of id: TaskID) throws(StoreError) -> TransferTask? {
        try connection.first("SELECT * FROM task WHERE id = ?1", Value(id)) { row throws(StoreError) in
            try TaskRow(row).task()
        }
    }

    /// The task that has this key of its owner.
    public func id(owner: Owner, clientKey: String) throws(StoreError) -> TaskID? {
        try connection.first(
            "SELECT id FROM task WHERE owner = ?1 AND client_key = ?2", Value(owner), .text(clientKey)
        ) { TaskID($0.integer(0)) }
    }

    /// The task that an earlier add with `specification.clientKey` made; nil if there is no such task or no key.
    ///
    /// - Parameter requestText: the client's text that `insert` got. Rows of earlier versions have only the fingerprint
    ///   of the resulting specification, so that is compared, too.
    public func earlierAdd(
        of specification: TaskSpecification, body: RequestBody? = nil, requestText: String? = nil
    ) throws(StoreError) -> EarlierAdd? {
        guard let key = specification.clientKey else { return nil }
        let found = try connection.first(
            "SELECT id, fingerprint FROM task WHERE owner = ?1 AND client_key = ?2",
            Value(specification.owner), .text(key)
        ) { (id: TaskID($0.integer(0)), fingerprint: $0.integer(1)) }
        guard let found else { return nil }
        if let requestText, found.fingerprint == Fingerprint(requestText: requestText).value {
            return EarlierAdd(id: found.id, isSameRequest: true)
        }
        let fingerprint = try SpecificationColumns(specification).fingerprint(of: specification, body)
        return EarlierAdd(id: found.id, isSameRequest: found.fingerprint == fingerprint)
    }

    /// The task that an earlier identical add made; nil also if its key was used for another add.
    ///
    /// - Parameter requestText: the client's text that `insert` got.
    public func earlierAdd(owner: Owner, clientKey: String, requestText: String) throws(StoreError) -> TaskID? {
        try connection.first(
            "SELECT id FROM task WHERE owner = ?1 AND client_key = ?2 AND fingerprint = ?3", Value(owner),
            .text(clientKey), .integer(Fingerprint(requestText: requestText).value)
        ) { TaskID($0.integer(0)) }
    }

    /// The highest id that a task ever had; nil if there was no task yet.
    public func lastID() throws(StoreError) -> TaskID? {
        try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'task'") { TaskID($0.integer(0)) }
    }

    /// Tasks in this state with ids above `after`, ascending.
    public func list(
        inState state: TaskState, after: TaskID? = nil, limit: Int
    ) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            "SELECT * FROM task INDEXED BY task_state WHERE state = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            Value(state), .integer(after?.rawValue ?? 0), Value(limit)
        )
    }

    /// True if there is a task in any of these states. Cheaper than `counts`, which writes the gathered deltas first.
    public func hasAny(in states: [TaskState]) throws(StoreError) -> Bool {
        for state in states {
            let found = try connection.first(
                "SELECT 1 FROM task INDEXED BY task_state WHERE state = ?1 LIMIT 1", Value(state)
            ) { _ in true }
            if found != nil { return true }
        }
        return false
    }

    /// The tasks of these that exist, of this owner; nil is any.
    public func existing(_ ids: [TaskID], of owner: Owner?) throws(StoreError) -> Set<TaskID> {
        Set(
            try connection.all(
                """
                SELECT id FROM task
                WHERE id IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR owner = ?2)
                """, .text(JSONText.array(ids.map(\.rawValue))), Value(owner)
            ) { TaskID($0.integer(0)) })
    }

    /// The directories of at most `limit` tasks with ids above `after`, and the last of those tasks.
    public func directories(
        after: TaskID?, limit: Int
    ) throws(StoreError) -> (directories: Set<String>, last: TaskID?) {
        let rows = try connection.all(
            "SELECT id, directory FROM task WHERE id > ?1 ORDER BY id LIMIT ?2", .integer(after?.rawValue ?? 0),
            Value(limit)
        ) { (id: TaskID($0.integer(0)), directory: $0.text(1)) }
        return (Set(rows.map(\.directory)), rows.last?.id)
    }

    /// The task that last completed a file under this path; nil if there is none, or its row was removed.
    public func lastCompleted(path: String) throws(StoreError) -> TransferTask? {
        try connection.first(
            """
            SELECT * FROM task INDEXED BY task_published WHERE state = 'completed' AND final_path = ?1
            ORDER BY id DESC LIMIT 1
            """, .text(path)
        ) { row throws(StoreError) in try TaskRow(row).task() }
    }

    /// The unfinished tasks in an owner's slot, ascending by id: at most one, or two while one supersedes the other.
    public func list(inSlot slot: String, of owner: Owner) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            """
            SELECT * FROM task INDEXED BY task_in_slot
            WHERE owner = ?1 AND slot = ?2 AND state NOT IN ('completed', 'failed', 'cancelled') ORDER BY id
            """, Value(owner), .text(slot)
        )
    }

    /// The tasks that share this transfer, ascending.
    public func list(subscribingTo transfer: TransferID) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            "SELECT * FROM task INDEXED BY task_transfer WHERE transfer_id = ?1 ORDER BY id", Value(transfer)
        )
    }
}

/// The earlier task that a repeated add with the same `client_key` finds.
public struct EarlierAdd: Hashable, Sendable {
    public let id: TaskID
    /// True if the first add was identical; later changes by `task.update` do not count.
    public let isSameRequest: Bool
}
