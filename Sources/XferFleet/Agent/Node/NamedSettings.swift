import StrictJSON
import XferClient
import XferFiles
import XferModel
import XferProtocol

/// A setting that a task refers to by its name and each node defines for itself.
enum NamedSetting: Hashable, Sendable, CustomStringConvertible {
    case policy(String)
    case profile(String)

    /// The named settings of the task.
    static func all(in task: NewTask) -> [NamedSetting] {
        let policy = task.policy.map { NamedSetting.policy($0) }
        let profile = task.profile.map { NamedSetting.profile($0) }
        return [policy, profile].compactMap { $0 }
    }

    /// The task's field.
    var field: String {
        switch self {
        case .policy: "policy"
        case .profile: "profile"
        }
    }

    var description: String {
        switch self {
        case .policy(let name): "policy \(name)"
        case .profile(let name): "profile \(name)"
        }
    }
}

/// The named settings of a task with the definitions of the node that added it: digests of their fields.
///
/// A node with other definitions declines the task, so that a task is trusted nowhere else than where it was added, and
/// gets the same request everywhere. Secrets are digested as `***`: each node has its own.
struct NamedSettings: Hashable, Sendable {
    /// The specification's member for the digests; no task field has this name.
    static let member = "fleet_named"

    /// The digests by the task's field, then by the setting's.
    var digests: [String: [String: String]] = [:]

    init() {}

    /// Takes them out of a stored specification.
    init(removedFrom fields: inout JSONObject) {
        let stored = fields[Self.member]?.objectValue ?? JSONObject()
        fields[Self.member] = nil
        for (field, value) in stored.members {
            digests[field] = (value.objectValue?.members ?? []).reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
        }
    }

    /// Returns the specification with these settings.
    func inserted(into specification: String) -> String {
        guard !digests.isEmpty, var fields = (try? JSONValue(parsing: specification.utf8))?.objectValue else {
            return specification
        }
        var all = JSONObject()
        for (field, digests) in digests.sorted(by: { $0.key < $1.key }) {
            var object = JSONObject()
            for (name, digest) in digests.sorted(by: { $0.key < $1.key }) { object[name] = .string(digest) }
            all[field] = .object(object)
        }
        fields[Self.member] = .object(all)
        return JSONValue.object(fields).text
    }

    /// Names of the setting's fields that are different; nil if there is nothing to compare.
    func differences(_ setting: NamedSetting, from other: [String: String]) -> [String]? {
        guard let own = digests[setting.field] else { return nil }
        return Set(own.keys).union(other.keys).filter { own[$0] != other[$0] }.sorted()
    }
}

extension LocalDaemon {
    /// Digests of a setting's fields; nil if the node has no such setting.
    func digests(of setting: NamedSetting) async throws -> [String: String]? {
        let record: JSONValue
        do {
            switch setting {
            case .policy(let name):
                record = try await client.call(PolicyGet.self, PolicyGet.Params(name: name)).policy.wire
            case .profile(let name):
                record = try await client.call(ProfileGet.self, ProfileGet.Params(name: name)).profile.wire
            }
        } catch CallError.refused(let failure) where failure.knownCode == .notFound {
            return nil
        }
        // These two are the node's own.
        let fields = (record.objectValue?.members ?? []).filter { !["version", "origin"].contains($0.key) }
        return try fields.reduce(into: [:]) { digests, field in
            var context = try DigestContext(.sha256)
            Array(field.value.text.utf8).withUnsafeBytes { context.update($0) }
            digests[field.key] = String("\(try context.finish())".suffix(32))
        }
    }
}
