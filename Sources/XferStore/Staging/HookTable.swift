public import XferModel

/// A hook that still has to run for a task's end.
public struct PendingHook: Hashable, Sendable {
    public let id: Int64
    /// The task, which may have been removed.
    public let taskID: TaskID
    public let occasion: HookOccasion
    /// The hook's name.
    public let hook: String
    /// Absolute path of the file the task published.
    public let path: String?
    /// The task as it ended, in the form of `StoreTexts.task`.
    public let description: String
}

/// The hooks that have to run: `pending_hook`.
public struct HookTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// Hooks that have to run, the oldest first.
    public func pending(after: Int64 = 0, limit: Int) throws(StoreError) -> [PendingHook] {
        try connection.all(
            """
            SELECT id, task_id, occasion, hook, path, description FROM pending_hook WHERE id > ?1 ORDER BY id LIMIT ?2
            """, .integer(after), Value(limit)
        ) { row throws(StoreError) in
            PendingHook(
                id: row.integer(0), taskID: TaskID(row.integer(1)),
                occasion: try row.word(
                    HookOccasion.self, 2, table: "pending_hook", id: row.integer(0), name: "occasion"),
                hook: row.text(3), path: row.optionalText(4), description: row.text(5))
        }
    }
}

extension HookTable where Store == StoreTransaction {
    /// Removes a pending hook that has run or can no longer run.
    public func remove(_ id: Int64) throws(StoreError) {
        try connection.run("DELETE FROM pending_hook WHERE id = ?1", .integer(id))
    }

    /// Records the hook that the task names for the end it reaches with this update. Every update calls it, so no code
    /// that ends a task has to.
    func record(of task: TransferTask, after former: TaskState) throws(StoreError) {
        let occasion: HookOccasion? =
            switch task.state {
            case .completed: .onComplete
            case .failed: .onError
            default: nil
            }
        guard task.state != former, let occasion, let hook = task.specification.completion.hook(for: occasion) else {
            return
        }
        let path = task.state == .completed ? task.outcome.finalPath : nil
        try connection.run(
            """
            INSERT INTO pending_hook (task_id, occasion, hook, path, description, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            Value(task.id), .text(occasion.rawValue), .text(hook), Value(path), .text(store.texts.task(task)),
            Value(task.finishedAt ?? task.createdAt))
        store.hasNewHooks = true
    }
}
