public import XferModel

/// Groups: `queue_group` has a row for each that has tasks or settings, and the tasks name that row.
public struct GroupTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The group with its limits and the counts of its tasks; nil when it has neither.
    public func find(_ key: GroupKey) throws(StoreError) -> TaskGroup? {
        guard var group = try settings(key) else { return nil }
        group.counts = try store.counts.byState(owner: key.owner, group: key.name)
        return group
    }

    /// Groups after `after`, by owner and name; `owner` nil means all owners.
    public func list(owner: Owner? = nil, after: GroupKey? = nil, limit: Int) throws(StoreError) -> [TaskGroup] {
        let floor = owner.map { Int64($0.rawValue) } ?? 0
        let ceiling = owner.map { Int64($0.rawValue) } ?? Int64(UInt32.max)
        var groups = try connection.all(
            """
            SELECT owner, name, max_active, paused, batch_id, max_recv_rate, max_send_rate FROM queue_group
            WHERE owner BETWEEN ?1 AND ?2 AND (owner, name) > (?3, ?4) ORDER BY owner, name LIMIT ?5
            """,
            .integer(floor), .integer(ceiling), .integer(after.map { Int64($0.owner.rawValue) } ?? -1),
            .text(after?.name ?? ""), Value(limit)
        ) { TaskGroup($0) }
        for index in groups.indices {
            groups[index].counts = try store.counts.byState(
                owner: groups[index].key.owner, group: groups[index].key.name)
        }
        return groups
    }

    /// The highest number of concurrent transfers of the group; nil if it has no limit of its own.
    public func maxActive(of group: GroupKey) throws(StoreError) -> Int? {
        try settings(group)?.limits.maxActive
    }

    /// Returns the common rate limits of groups that have one.
    public func rates() throws(StoreError) -> RateLimits {
        let limited = try connection.all(
            """
            SELECT owner, name, max_active, paused, batch_id, max_recv_rate, max_send_rate FROM queue_group
            INDEXED BY group_limited WHERE max_recv_rate IS NOT NULL OR max_send_rate IS NOT NULL
            """
        ) { TaskGroup($0) }
        var rates = RateLimits()
        for group in limited {
            rates.receive[.group(group.key)] = group.limits.maxReceiveRate
            rates.send[.group(group.key)] = group.limits.maxSendRate
        }
        return rates
    }

    /// A group without its counts; nil if it has no row.
    public func settings(_ key: GroupKey) throws(StoreError) -> TaskGroup? {
        try connection.first(
            """
            SELECT owner, name, max_active, paused, batch_id, max_recv_rate, max_send_rate FROM queue_group
            WHERE owner = ?1 AND name = ?2
            """, Value(key.owner), .text(key.name)
        ) { TaskGroup($0) }
    }

    /// The row of a group; `GroupID.none` for no group, nil for one without a row.
    func id(of key: GroupKey?) throws(StoreError) -> Int64? {
        guard let key else { return GroupRow.none }
        return try connection.first(
            "SELECT id FROM queue_group WHERE owner = ?1 AND name = ?2", Value(key.owner), .text(key.name)
        ) { $0.integer(0) }
    }

    func key(of id: Int64) throws(StoreError) -> GroupKey? {
        guard id != GroupRow.none else { return nil }
        return try connection.first("SELECT owner, name FROM queue_group WHERE id = ?1", .integer(id)) {
            GroupKey(owner: Owner(uid: UInt32(truncatingIfNeeded: $0.integer(0))), name: $0.text(1))
        }
    }
}

extension GroupTable where Store == StoreTransaction {
    /// Changes a group's own limits. O(1), however many tasks the group has.
    public func setLimits(of key: GroupKey, _ change: (inout GroupLimits) -> Void) throws(StoreError) {
        var limits = try settings(key)?.limits ?? GroupLimits()
        change(&limits)
        let id = try make(key)
        try connection.run(
            "UPDATE queue_group SET max_active = ?2, max_recv_rate = ?3, max_send_rate = ?4 WHERE id = ?1",
            .integer(id), Value(limits.maxActive), Value(limits.maxReceiveRate), Value(limits.maxSendRate))
        try tidy(id)
    }

    /// Pauses or resumes the group's starts. Writes a row per priority and profile of its queued tasks, however many
    /// these are.
    public func setPaused(_ isPaused: Bool, group key: GroupKey) throws(StoreError) {
        try store.settleHosts()
        let id = try make(key)
        try connection.run("UPDATE queue_group SET paused = ?2 WHERE id = ?1", .integer(id), Value(isPaused))
        for priority in Priority.allCases {
            let profiles = try connection.all(
                "SELECT profile FROM group_queue WHERE priority = ?1 AND group_id = ?2",
                .integer(Int64(priority.rawValue)), .integer(id)
            ) { $0.text(0) }
            for profile in profiles {
                try store.queue.refreshFront(of: LineKey(priority: priority, group: id, profile: profile))
            }
        }
        try tidy(id)
    }

    /// Removes the group's settings, and the group when it has no tasks.
    public func reset(_ key: GroupKey) throws(StoreError) {
        try setLimits(of: key) { $0 = GroupLimits() }
        try setPaused(false, group: key)
    }

    /// The group's row, made if there is none.
    @discardableResult
    func make(_ key: GroupKey?, batch: BatchID? = nil, maxActive: Int? = nil) throws(StoreError) -> Int64 {
        if let id = try id(of: key) { return id }
        guard let key else { return GroupRow.none }
        try connection.run(
            "INSERT INTO queue_group (owner, name, batch_id, max_active) VALUES (?1, ?2, ?3, ?4)", Value(key.owner),
            .text(key.name), Value(batch?.rawValue), Value(maxActive))
        return connection.lastInsertedID
    }

    /// Removes the row of a group without tasks and settings. A batch's group is removed with its last member.
    func tidy(_ id: Int64) throws(StoreError) {
        guard id != GroupRow.none else { return }
        try connection.run(
            """
            DELETE FROM queue_group WHERE id = ?1 AND (
                    max_active IS NULL AND max_recv_rate IS NULL AND max_send_rate IS NULL AND paused = 0
                    OR batch_id IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM task INDEXED BY task_group_id WHERE group_id = ?1 AND group_id <> 0)
            """, .integer(id))
    }
}

enum GroupRow {
    /// The id that tasks without a group have instead of a row's id.
    static let none: Int64 = 0
}

extension TaskGroup {
    /// Reads a row of owner, name, max_active, paused, batch_id, max_recv_rate, max_send_rate.
    fileprivate init(_ row: ResultRow) {
        self.init(
            key: GroupKey(owner: Owner(uid: UInt32(truncatingIfNeeded: row.integer(0))), name: row.text(1)),
            limits: GroupLimits(
                maxActive: row.optionalAmount(2).map { Int(clamping: $0) }, maxReceiveRate: row.optionalAmount(5),
                maxSendRate: row.optionalAmount(6)),
            isPaused: row.flag(3), batch: row.optionalInteger(4).map { BatchID($0) })
    }
}
