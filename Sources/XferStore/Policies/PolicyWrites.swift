public import XferModel

extension StoreTransaction {
    /// Writes the policy under its name and returns it with its new version; `policy.version` is ignored. The warnings
    /// of an earlier version are cleared.
    public func setPolicy(_ policy: TrustPolicy, isConfigured: Bool) throws(StoreError) -> TrustPolicy {
        try connection.run("DELETE FROM policy WHERE name = ?1", .text(policy.name))
        var policy = policy
        policy.version = 0
        try connection.run(
            "INSERT INTO policy (name, is_configured, policy) VALUES (?1, ?2, ?3)", .text(policy.name),
            Value(isConfigured), .text(try JSONText.encode(policy)))
        policy.version = connection.lastInsertedID
        return policy
    }

    /// Nothing happens when there is none of that name.
    public func removePolicy(named name: String) throws(StoreError) {
        try connection.run("DELETE FROM policy WHERE name = ?1", .text(name))
    }

    /// Notes the last warning that was given before the expiry of this version.
    public func setWarned(_ days: Int, ofPolicyVersion version: Int64) throws(StoreError) {
        try connection.run("UPDATE policy SET warned = ?2 WHERE version = ?1", .integer(version), Value(days))
    }
}
