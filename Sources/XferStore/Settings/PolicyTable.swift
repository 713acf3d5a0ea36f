public import XferModel

/// A trust policy with its columns in the database.
public struct StoredPolicy: Hashable, Sendable {
    /// The policy, with the version that it got when it was written.
    public var policy: TrustPolicy
    /// True if the configuration file contains the policy; otherwise a client set it over RPC.
    public var isConfigured: Bool
    /// The last expiry warning for this version, as the number of days before the expiry; nil if none was given.
    public var warned: Int?

    public init(policy: TrustPolicy, isConfigured: Bool, warned: Int? = nil) {
        self.policy = policy
        self.isConfigured = isConfigured
        self.warned = warned
    }
}

extension StoredPolicy {
    /// Reads a row with the columns version, name, is_configured, policy and warned.
    init(_ row: ResultRow) throws(StoreError) {
        let version = row.integer(0)
        guard var policy = JSONText.decode(TrustPolicy.self, from: row.text(3)), policy.name == row.text(1) else {
            throw .unreadable(table: "policy", id: version, column: "policy")
        }
        policy.version = version
        self.init(policy: policy, isConfigured: row.flag(2), warned: row.optionalInteger(4).map { Int(clamping: $0) })
    }
}

/// The trust policies: `policy`.
public struct PolicyTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// All policies that can be read, by name. One that cannot may concern any host: see `damaged`.
    public func all() throws(StoreError) -> [StoredPolicy] { try readable().rows }

    /// The policies that cannot be read, by name.
    public func damaged() throws(StoreError) -> [DamagedRow] { try readable().damaged }

    /// The policies that can be read, and those that cannot, by name.
    public func readable() throws(StoreError) -> (rows: [StoredPolicy], damaged: [DamagedRow]) {
        try connection.readable("SELECT version, name, is_configured, policy, warned FROM policy ORDER BY name") {
            row throws(StoreError) in
            try StoredPolicy(row)
        } orElse: {
            DamagedRow(table: .policy, name: $0.text(1), id: $0.integer(0), isConfigured: $0.flag(2))
        }
    }

    /// True if there is a policy of this name. It need not be readable.
    public func exists(named name: String) throws(StoreError) -> Bool {
        try connection.first("SELECT 1 FROM policy WHERE name = ?1", .text(name)) { _ in true } ?? false
    }

    /// The policy of this name.
    ///
    /// - Throws: `StoreError.unreadable` if its row is damaged.
    public func find(named name: String) throws(StoreError) -> StoredPolicy? {
        try connection.first(
            "SELECT version, name, is_configured, policy, warned FROM policy WHERE name = ?1", .text(name)
        ) { row throws(StoreError) in try StoredPolicy(row) }
    }

    /// The ids of unfinished tasks that name this policy, at most `limit` of them.
    public func unfinishedTasks(namingPolicy name: String, limit: Int) throws(StoreError) -> [TaskID] {
        try connection.all(
            """
            SELECT id FROM task INDEXED BY task_policy
            WHERE policy = ?1 AND state NOT IN ('completed', 'failed', 'cancelled') LIMIT ?2
            """, .text(name), Value(limit)
        ) { TaskID($0.integer(0)) }
    }
}

extension PolicyTable where Store == StoreTransaction {
    /// Writes the policy under its name and returns it with its new version; `policy.version` is ignored. The warnings
    /// of an earlier version are cleared.
    public func set(_ policy: TrustPolicy, isConfigured: Bool) throws(StoreError) -> TrustPolicy {
        try connection.run("DELETE FROM policy WHERE name = ?1", .text(policy.name))
        var policy = policy
        policy.version = 0
        try connection.run(
            "INSERT INTO policy (name, is_configured, policy) VALUES (?1, ?2, ?3)", .text(policy.name),
            Value(isConfigured), .text(try JSONText.encode(policy)))
        policy.version = connection.lastInsertedID
        return policy
    }

    /// Removes the policy with this name. Does nothing if there is none.
    public func remove(named name: String) throws(StoreError) {
        try connection.run("DELETE FROM policy WHERE name = ?1", .text(name))
    }

    /// Records the last expiry warning for this version, as the number of days before the expiry.
    public func setWarned(_ days: Int, ofPolicyVersion version: Int64) throws(StoreError) {
        try connection.run("UPDATE policy SET warned = ?2 WHERE version = ?1", .integer(version), Value(days))
    }
}
