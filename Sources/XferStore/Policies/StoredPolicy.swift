public import XferModel

/// A trust policy as the database holds it.
public struct StoredPolicy: Hashable, Sendable {
    /// With the version it was given when it was written.
    public var policy: TrustPolicy
    /// Written in the configuration file, not over RPC.
    public var isConfigured: Bool
    /// Days before its expiry of the last warning that was given for this version.
    public var warned: Int?

    public init(policy: TrustPolicy, isConfigured: Bool, warned: Int? = nil) {
        self.policy = policy
        self.isConfigured = isConfigured
        self.warned = warned
    }
}

extension StoredPolicy {
    /// From a row with version, name, is_configured, policy, warned.
    init(_ row: ResultRow) throws(StoreError) {
        let version = row.integer(0)
        guard var policy = JSONText.decode(TrustPolicy.self, from: row.text(3)), policy.name == row.text(1) else {
            throw .unreadable(table: "policy", id: version, column: "policy")
        }
        policy.version = version
        self.init(policy: policy, isConfigured: row.flag(2), warned: row.optionalInteger(4).map { Int(clamping: $0) })
    }
}
