import XferModel
import XferStore

/// An entry of the configuration file that is not in force, because one that was set over RPC has its name or host.
///
/// Neither replaces the other. A reload is refused; a start leaves the database as it is, because the entry set over
/// RPC can only be removed while the daemon runs.
public struct ConfigurationConflict: Hashable, Sendable, CustomStringConvertible {
    enum Kind: String, Sendable {
        case policy
        case profile

        var noun: String {
            switch self {
            case .policy: "trust policy"
            case .profile: "profile"
            }
        }
    }

    let kind: Kind
    /// The name of the configuration's entry.
    let name: String
    /// The name of the entry that was set over RPC.
    let other: String
    /// The host pattern that both trust policies have; nil if it is the name.
    let host: HostPattern?

    public var description: String {
        let reason =
            host.map { "its host \($0) is also that of \(kind.noun) \"\(other)\", which was set over RPC" }
            ?? "another one of this name was set over RPC"
        return "\(kind.noun) \"\(name)\" of the configuration file is not in force: \(reason); remove that one "
            + "(xferctl \(kind.rawValue) remove \(other)) or this entry, then save the file again"
    }
}

extension ConfigurationConflict {
    static func all(_ settings: ManagerSettings, in reader: StoreReader) throws -> [ConfigurationConflict] {
        policies(settings.policies, beside: try reader.policies.all())
            + profiles(settings.profiles, beside: try reader.profiles.all())
    }

    static func policies(_ configured: [TrustPolicy], beside stored: [StoredPolicy]) -> [ConfigurationConflict] {
        let others = stored.filter { !$0.isConfigured }.map(\.policy)
        return configured.compactMap { policy in
            if others.contains(where: { $0.name == policy.name }) {
                return ConfigurationConflict(kind: .policy, name: policy.name, other: policy.name, host: nil)
            }
            for other in others {
                guard let host = policy.hosts.first(where: { other.hosts.contains($0) }) else { continue }
                return ConfigurationConflict(kind: .policy, name: policy.name, other: other.name, host: host)
            }
            return nil
        }
    }

    static func profiles(_ configured: [Profile], beside stored: [StoredProfile]) -> [ConfigurationConflict] {
        let others = Set(stored.filter { !$0.isConfigured }.map(\.profile.name))
        return configured.filter { others.contains($0.name) }.map {
            ConfigurationConflict(kind: .profile, name: $0.name, other: $0.name, host: nil)
        }
    }
}

/// The error of a reload whose configuration has entries that were set over RPC, too.
public struct ConfigurationConflicts: Error, Hashable, Sendable, CustomStringConvertible {
    public let conflicts: [ConfigurationConflict]

    public var description: String { conflicts.map(\.description).joined(separator: "; ") }
}
