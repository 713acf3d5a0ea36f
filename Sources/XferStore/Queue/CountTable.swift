public import XferModel

/// The numbers of tasks: `task_count`.
public struct CountTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// Numbers of tasks by state: all, one owner's, one group's, or one owner's within a group. O(1); states without
    /// tasks are left out.
    public func byState(owner: Owner? = nil, group: String? = nil) throws(StoreError) -> [TaskState: Int64] {
        try store.settleCounts()
        let rows = try connection.all(
            "SELECT state, count FROM task_count WHERE owner = ?1 AND group_name = ?2 AND count > 0",
            .integer(owner.map { Int64($0.rawValue) } ?? CountScope.allOwners), .text(group ?? CountScope.allGroups)
        ) { row throws(StoreError) in
            (try row.word(TaskState.self, 0, table: "task_count", id: 0, name: "state"), row.amount(1))
        }
        return Dictionary(rows) { $0.addingSaturated($1) }
    }
}

/// The numbers of tasks by owner, group and state.
extension CountTable where Store == StoreTransaction {
    func change(_ key: CountKey, by amount: Int64) throws(StoreError) {
        let owner = Int64(key.owner.rawValue)
        try count(owner: CountScope.allOwners, group: CountScope.allGroups, key.state, by: amount)
        try count(owner: owner, group: CountScope.allGroups, key.state, by: amount)
        guard let group = key.group, group != CountScope.allGroups else { return }
        try count(owner: CountScope.allOwners, group: group, key.state, by: amount)
        try count(owner: owner, group: group, key.state, by: amount)
    }

    private func count(owner: Int64, group: String, _ state: TaskState, by amount: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO task_count (owner, group_name, state, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET count = count + excluded.count
            """,
            .integer(owner), .text(group), Value(state), .integer(amount))
        guard amount < 0, group != CountScope.allGroups else { return }
        // Every batch may be a group, so empty groups must not leave rows behind.
        try connection.run(
            "DELETE FROM task_count WHERE owner = ?1 AND group_name = ?2 AND state = ?3 AND count <= 0",
            .integer(owner), .text(group), Value(state))
    }
}

/// Values of `task_count` that represent all owners or groups.
enum CountScope {
    static let allOwners: Int64 = -1
    static let allGroups = ""
}
