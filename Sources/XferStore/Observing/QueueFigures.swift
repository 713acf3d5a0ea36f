public import XferModel

/// Numbers of rows that metrics show.
public struct QueueFigures: Hashable, Sendable {
    /// Tasks of one group and state.
    public struct GroupCount: Hashable, Sendable {
        public var group: GroupKey
        public var state: TaskState
        public var count: Int64
    }

    /// Tasks by state.
    public var states: [TaskState: Int64] = [:]
    /// The number of waiting tasks by the reasons of their waits.
    public var waits: [WaitReason: Int64] = [:]
    /// Unfinished tasks of groups.
    public var groups: [GroupCount] = []
    public var failedURLCount: Int64 = 0
    public var cache = CacheTotals()
    /// The number of deliveries to webhooks that were discarded because too many bytes of their users waited.
    public var discardedDeliveries: Int64 = 0
}

extension StoreReader {
    /// Counts for metrics. Its time grows with the number of waiting tasks and of cached responses.
    ///
    /// - Parameter groupLimit: the highest number of groups that are returned: the ones with the most unfinished tasks.
    public func figures(groupLimit: Int) throws(StoreError) -> QueueFigures {
        var figures = QueueFigures()
        figures.states = try counts.byState()
        let waits = try connection.all(
            "SELECT wait_reason, count(*) FROM task WHERE wait_reason IS NOT NULL GROUP BY wait_reason"
        ) { row in (WaitReason(rawValue: row.text(0)), row.amount(1)) }
        for case (let reason?, let count) in waits { figures.waits[reason] = count }
        figures.groups = try groupCounts(limit: groupLimit)
        figures.failedURLCount = try connection.first("SELECT count(*) FROM failed_url") { $0.amount(0) } ?? 0
        figures.cache = try cache.totals()
        figures.discardedDeliveries = try deliveries.discarded()
        return figures
    }

    /// Counts the unfinished tasks of the groups with the most. Among 100,000 groups, one for each batch, it is a
    /// choice.
    private func groupCounts(limit: Int) throws(StoreError) -> [QueueFigures.GroupCount] {
        let rows = try connection.all(
            """
            WITH unfinished AS (
                SELECT owner, group_name, state, count FROM task_count
                WHERE owner >= 0 AND group_name <> '' AND count > 0
                    AND state IN ('queued', 'waiting', 'running', 'paused', 'staged')
                LIMIT 20000
            )
            SELECT unfinished.owner, unfinished.group_name, state, count FROM unfinished JOIN (
                SELECT owner, group_name FROM unfinished GROUP BY owner, group_name
                ORDER BY sum(count) DESC, owner, group_name LIMIT ?1
            ) largest ON largest.owner = unfinished.owner AND largest.group_name = unfinished.group_name
            """, Value(limit)
        ) { row in (row.integer(0), row.text(1), TaskState(rawValue: row.text(2)), row.amount(3)) }
        return rows.compactMap { owner, name, state, count in
            guard let owner = UInt32(exactly: owner), let state else { return nil }
            return QueueFigures.GroupCount(
                group: GroupKey(owner: Owner(uid: owner), name: name), state: state, count: count)
        }
    }
}
