import XferCore
public import XferModel
public import XferProtocol
import XferStore

/// The trust policies in force: those of the configuration file and of operators, and the default.
struct PolicyRegistry: Sendable {
    /// The policies by name, without the built-in default.
    private(set) var stored: [StoredPolicy]
    /// The policies whose rows cannot be read. While there is one, the resolver allows no connection.
    let damaged: [DamagedRow]
    /// The policies of the configuration file that the start did not apply. While there is one, the resolver allows no
    /// connection.
    private(set) var notInForce: [ConfigurationConflict] = []
    private(set) var resolver: PolicyResolver
    /// Identifies the contents of the authorities' file in force; empty if it was never read.
    var authorities = ""

    init() {
        stored = []
        damaged = []
        resolver = PolicyResolver()
    }

    /// - Throws: if two policies claim a name or a host pattern.
    init(_ stored: [StoredPolicy], damaged: [DamagedRow] = []) throws(TrustPolicyError) {
        self.stored = stored
        self.damaged = damaged
        resolver = try PolicyResolver(stored.map(\.policy), unreadable: damaged.map(\.name))
    }

    /// The policies of the database.
    init(in reader: StoreReader) throws {
        let found = try reader.policies.readable()
        try self.init(found.rows, damaged: found.damaged)
    }

    mutating func leaveOut(_ conflicts: [ConfigurationConflict]) {
        notInForce = conflicts
        resolver.notInForce = conflicts.map(\.name)
    }

    /// All policies with the default, by name.
    var entries: [PolicyEntry] {
        var entries = stored.map { PolicyEntry($0) }
        if !entries.contains(where: \.policy.isDefault) {
            entries.append(PolicyEntry(policy: .builtInDefault, origin: .builtIn))
        }
        return entries.sorted { $0.policy.name < $1.policy.name }
    }

    func entry(named name: String) -> PolicyEntry? { entries.first { $0.policy.name == name } }

    /// Versions that connections may be judged by; 0 is the built-in default's.
    var versions: Set<Int64> {
        Set(stored.map(\.policy.version)).union(stored.contains(where: \.policy.isDefault) ? [] : [0])
    }

    /// Identifies the policies and authorities in force: equal ones judge every server in the same way.
    func identity(at now: Timestamp) -> String {
        let policies = stored.map { "\($0.policy.version)\(AppliedPolicy($0.policy, at: now).isExpired ? "x" : "")" }
        return "\(policies.sorted().joined(separator: "+"))@\(authorities)"
    }

    mutating func recordWarning(_ days: Int, ofVersion version: Int64) {
        guard let index = stored.firstIndex(where: { $0.policy.version == version }) else { return }
        stored[index].warned = days
    }
}

/// A trust policy and its origin.
public struct PolicyEntry: Hashable, Sendable {
    public var policy: TrustPolicy
    /// A policy of the configuration can only be changed in its file.
    public var origin: PolicyOrigin

    init(policy: TrustPolicy, origin: PolicyOrigin) {
        self.policy = policy
        self.origin = origin
    }

    init(_ stored: StoredPolicy) {
        self.init(policy: stored.policy, origin: stored.isConfigured ? .configuration : .client)
    }
}
