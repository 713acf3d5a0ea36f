public import XferModel

/// A task that others depend on, and how it ended.
public struct EndedTarget: Hashable, Sendable {
    public var id: TaskID
    public var outcome: TaskState
}

/// The state of all targets of a task.
public struct DependencyState: Hashable, Sendable {
    /// The number of targets that have not ended.
    public var openCount = 0
    /// The first target that failed or was cancelled.
    public var failed: EndedTarget?
}

/// Dependencies between tasks.
public struct DependencyTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The state of this task's targets.
    public func state(of id: TaskID) throws(StoreError) -> DependencyState {
        var state = DependencyState()
        let rows = try connection.all(
            """
            SELECT target_id, outcome FROM dependency
            WHERE task_id = ?1 AND outcome IS NOT 'completed' ORDER BY target_id
            """, Value(id)
        ) { (id: TaskID($0.integer(0)), outcome: $0.optionalText(1)) }
        for row in rows {
            if let outcome = row.outcome {
                state.failed =
                    state.failed ?? EndedTarget(id: row.id, outcome: TaskState(rawValue: outcome) ?? .failed)
            } else {
                state.openCount += 1
            }
        }
        return state
    }

    /// True if a target of this task has not ended.
    public func hasOpenTargets(_ id: TaskID) throws(StoreError) -> Bool {
        try connection.first(
            "SELECT 1 FROM dependency INDEXED BY dependency_waiting WHERE task_id = ?1 AND outcome IS NULL LIMIT 1",
            Value(id)
        ) { _ in true } ?? false
    }

    /// The targets of this task that have not completed, ascending.
    public func unmetTargets(of id: TaskID) throws(StoreError) -> [TaskID] {
        try connection.all(
            "SELECT target_id FROM dependency WHERE task_id = ?1 AND outcome IS NOT 'completed' ORDER BY target_id",
            Value(id)
        ) { TaskID($0.integer(0)) }
    }

    /// A target that has ended, with its outcome, and whose dependents have not all been updated.
    public func nextEndedTarget() throws(StoreError) -> EndedTarget? {
        try connection.first("SELECT target_id, outcome FROM ended_target LIMIT 1") { row throws(StoreError) in
            EndedTarget(
                id: TaskID(row.integer(0)),
                outcome: try row.word(
                    TaskState.self, 1, table: "ended_target", id: row.integer(0), name: "outcome"))
        }
    }

    /// Tasks that wait for the end of this one, ascending.
    public func openDependents(of target: TaskID, limit: Int) throws(StoreError) -> [TaskID] {
        try connection.all(
            """
            SELECT task_id FROM dependency INDEXED BY dependency_open
            WHERE target_id = ?1 AND outcome IS NULL ORDER BY task_id LIMIT ?2
            """, Value(target), Value(limit)
        ) { TaskID($0.integer(0)) }
    }
}

extension DependencyTable where Store == StoreTransaction {
    /// Replaces the targets that the task depends on.
    public func set(of id: TaskID, on targets: [TaskID]) throws(StoreError) {
        try connection.run("DELETE FROM dependency WHERE task_id = ?1", Value(id))
        // One statement: a thousand of them for each of hundreds of tasks would delay all other changes.
        try connection.run(
            """
            INSERT OR IGNORE INTO dependency (task_id, target_id, outcome)
            SELECT ?1, target.value, CASE
                WHEN task.id IS NULL THEN
                    coalesce((SELECT outcome FROM ended_target WHERE target_id = target.value), 'failed')
                WHEN task.state IN ('completed', 'failed', 'cancelled') THEN task.state
                END
            FROM json_each(?2) target LEFT JOIN task ON task.id = target.value
            """, Value(id), .text(JSONText.array(targets.map(\.rawValue))))
    }

    /// Adds the members of a batch to the targets that the task depends on. Completed ones change nothing and are left
    /// out; a failed one counts until it is retried.
    public func add(of id: TaskID, onMembersOf batch: BatchID) throws(StoreError) {
        try connection.run(
            """
            INSERT OR IGNORE INTO dependency (task_id, target_id, outcome)
            SELECT ?1, id, CASE WHEN state IN ('failed', 'cancelled') THEN state END
            FROM task INDEXED BY task_batch WHERE batch_id = ?2 AND id <> ?1 AND state <> 'completed'
            """, Value(id), Value(batch))
    }

    /// Adds the unfinished tasks of a group to the targets that the task depends on.
    public func add(of id: TaskID, onTasksOf group: GroupKey) throws(StoreError) {
        guard let row = try store.groups.id(of: group) else { return }
        try connection.run(
            """
            INSERT OR IGNORE INTO dependency (task_id, target_id)
            SELECT ?1, id FROM task INDEXED BY task_group_id
            WHERE group_id = ?2 AND group_id <> 0 AND id <> ?1 AND state NOT IN ('completed', 'failed', 'cancelled')
            """, Value(id), .integer(row))
    }

    /// Reads the states of the targets again: a failed target may have been retried meanwhile. For a removed target the
    /// last known outcome applies; a target that was removed without a recorded outcome counts as failed.
    public func renew(of id: TaskID) throws(StoreError) {
        try connection.run(
            """
            UPDATE dependency SET outcome = CASE
                WHEN EXISTS (SELECT 1 FROM task WHERE task.id = target_id) THEN (
                    SELECT CASE WHEN state IN ('completed', 'failed', 'cancelled') THEN state END
                    FROM task WHERE task.id = target_id)
                ELSE coalesce(outcome, (SELECT outcome FROM ended_target e WHERE e.target_id = dependency.target_id), 'failed')
                END
            WHERE task_id = ?1
            """, Value(id))
    }

    /// Records the outcome of this dependency's target.
    public func settle(of id: TaskID, on target: TaskID, _ outcome: TaskState) throws(StoreError) {
        try connection.run(
            "UPDATE dependency SET outcome = ?3 WHERE task_id = ?1 AND target_id = ?2",
            Value(id), Value(target), Value(outcome))
    }

    /// Removes the target: every dependent has been updated, or the target has begun again.
    public func removeEndedTarget(_ id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM ended_target WHERE target_id = ?1", Value(id))
    }

    /// Prepares a check of the conditions of a task that returned to the queue.
    func renewConditions(of task: TransferTask, from earlier: TaskState) throws(StoreError) {
        guard !task.specification.schedule.isEmpty else { return }
        if earlier.isTerminal { try renew(of: task.id) }
        try store.conditions.set(of: task.id, due: Timestamp(seconds: 0))
    }

    /// Records the outcome of an ended task for the tasks that depend on it, and clears its own start conditions.
    func recordEnd(of task: TransferTask) throws(StoreError) {
        if !task.specification.schedule.isEmpty { try store.conditions.set(of: task.id, due: nil) }
        try recordOutcome(task.state, of: task.id)
    }

    /// Records the outcome of an ended task for the tasks that depend on it.
    func recordOutcome(_ state: TaskState, of id: TaskID) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO ended_target (target_id, outcome)
            SELECT ?1, ?2 WHERE EXISTS (
                SELECT 1 FROM dependency INDEXED BY dependency_open WHERE target_id = ?1 AND outcome IS NULL)
            ON CONFLICT DO UPDATE SET outcome = excluded.outcome
            """, Value(id), Value(state))
    }
}
