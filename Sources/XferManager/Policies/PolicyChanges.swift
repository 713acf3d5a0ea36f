import XferCore
import XferModel
import XferStore

/// Changes of the stored policies, each decided and written within one transaction.
enum PolicyChanges {
    /// Applies the policies of the configuration file. A changed policy gets a new version, an unchanged one keeps its
    /// version, and one that is no longer in the file is removed.
    ///
    /// A policy that conflicts with one of an operator is not applied. As long as there is one, nothing is transferred,
    /// and the file's former policies remain for hosts that no applied policy has.
    ///
    /// - Throws: `TrustPolicyError` if the file's policies are invalid.
    static func applyConfigured(
        _ configured: [TrustPolicy], in tx: StoreTransaction, at now: Timestamp
    ) throws -> PolicyRegistry {
        let (earlier, damaged) = try tx.policies.readable()
        let conflicts = ConfigurationConflict.policies(configured, beside: earlier)
        let configured = configured.filter { policy in !conflicts.contains { $0.name == policy.name } }
        let hosts = Set(configured.flatMap(\.hosts))
        for row in damaged
        where row.isConfigured && conflicts.isEmpty || configured.contains(where: { $0.name == row.name }) {
            // The file has the policy as it was, or no longer.
            try tx.appendInvalidated(row.name, version: row.id, at: now)
            try tx.policies.remove(named: row.name)
        }
        for policy in configured {
            let old = earlier.first { $0.policy.name == policy.name }
            if let old, old.policy.withoutVersion == policy.withoutVersion {
                // A policy that expired since it was written must not prevent a start.
                try TrustPolicyRules.check(policy, at: nil)
                continue
            }
            // One that is written again may have expired, too.
            let isRepaired = damaged.contains { $0.name == policy.name }
            try TrustPolicyRules.check(policy, at: isRepaired ? nil : now)
            if let old { try tx.appendInvalidated(old.policy, at: now) }
            _ = try tx.policies.set(policy, isConfigured: true)
        }
        for old in earlier where old.isConfigured && !configured.contains(where: { $0.name == old.policy.name }) {
            if !conflicts.isEmpty, hosts.isDisjoint(with: old.policy.hosts) { continue }
            try tx.appendInvalidated(old.policy, at: now)
            try tx.policies.remove(named: old.policy.name)
        }
        var registry = try PolicyRegistry(in: tx)
        registry.leaveOut(conflicts)
        return registry
    }

    /// Checks only the configuration file's policies, without those in the database.
    ///
    /// - Throws: `TrustPolicyError`.
    static func check(_ configured: [TrustPolicy]) throws {
        for policy in configured { try TrustPolicyRules.check(policy, at: nil) }
        _ = try PolicyRegistry(configured.map { StoredPolicy(policy: $0, isConfigured: true) })
    }

    static func set(_ policy: TrustPolicy, in tx: StoreTransaction, at now: Timestamp) throws -> PolicyRegistry {
        if let old = try tx.policies.former(policy.name) {
            guard !old.isConfigured else { throw ManagerError.policyIsConfigured(policy.name) }
            try tx.appendInvalidated(policy.name, version: old.version, at: now)
        }
        _ = try tx.policies.set(policy, isConfigured: false)
        return try PolicyRegistry(in: tx)
    }

    /// - Parameter isReplaced: true if one of the same name takes its place.
    static func remove(_ name: String, isReplaced: Bool = false, in tx: StoreTransaction, at now: Timestamp) throws {
        guard let old = try tx.policies.former(name) else { throw ManagerError.policyNotFound(name) }
        guard !old.isConfigured else { throw ManagerError.policyIsConfigured(name) }
        if !isReplaced, let task = try tx.policies.unfinishedTasks(namingPolicy: name, limit: 1).first {
            throw ManagerError.policyInUse(name, by: task)
        }
        try tx.appendInvalidated(name, version: old.version, at: now)
        try tx.policies.remove(named: name)
    }
}

extension StoreTransaction {
    fileprivate func appendInvalidated(_ policy: TrustPolicy, at now: Timestamp) throws(StoreError) {
        try appendInvalidated(policy.name, version: policy.version, at: now)
    }

    fileprivate func appendInvalidated(_ name: String, version: Int64, at now: Timestamp) throws(StoreError) {
        try events.append(.sessionInvalidated(policy: name, version: version), at: now)
    }
}

extension PolicyTable {
    /// The policy of this name before a change, also if its row is damaged; nil if there is none.
    fileprivate func former(_ name: String) throws(StoreError) -> (version: Int64, isConfigured: Bool)? {
        if let row = try damaged().first(where: { $0.name == name }) { return (row.id, row.isConfigured) }
        return try find(named: name).map { ($0.policy.version, $0.isConfigured) }
    }
}

extension TrustPolicy {
    fileprivate var withoutVersion: TrustPolicy {
        var copy = self
        copy.version = 0
        return copy
    }
}

/// Follows the contents of the authorities' file (`trust.ca_file`).
///
/// After a change, the servers that sent kept bytes are judged again, as after a change of a policy.
enum AuthoritiesChange {
    private static let key = "trust.authorities"

    /// Returns the fingerprint of the contents that were in force when the service last ran; nil if none was recorded.
    static func last(in reader: StoreReader) throws -> String? { try reader.settings.find(key) }

    /// Records the current contents of the file.
    ///
    /// If only the built-in default policy judged the servers of kept bytes, these servers were not recorded. After a
    /// change such bytes are no longer trusted, because they arrived under other authorities.
    ///
    /// - Parameter found: the fingerprint of the current contents; nil if the file cannot be read. Then nothing
    ///   changes.
    /// - Returns: the fingerprint of the contents in force.
    static func apply(_ found: String?, in tx: StoreTransaction) throws -> String {
        let stored = try tx.settings.find(key)
        guard let found, found != stored else { return stored ?? "" }
        if stored != nil { try tx.transfers.doubtUnrecordedSources() }
        try tx.settings.set(key, found)
        return found
    }
}
