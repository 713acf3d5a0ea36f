import XferManager
import XferModel
import XferProtocol

/// Handles `profile.*`: decodes, authorises, calls and encodes.
struct ProfileHandlers: Sendable {
    let profiles: ProfileCommands

    var all: [Handler] {
        [
            Handler(
                ProfileList.self,
                encoding: { params, _, _ in
                    PageText.named(
                        try await profiles.list(), params, as: ProfileList.Result.self, name: \.profile.name
                    ) {
                        ProfileRecord($0)
                    }
                }),
            Handler(ProfileGet.self) { params, _ in
                ProfileGet.Result(profile: ProfileRecord(try await profiles.get(params.name)))
            },
            Handler(ProfileSet.self, set), Handler(ProfileRemove.self, remove),
        ]
    }

    private func set(_ params: ProfileSet.Params, _: CallContext) async throws -> ProfileGet.Result {
        let profile: Profile
        do throws(ProfileTextError) {
            profile = try params.profile.readProfile()
        } catch {
            throw ManagerError.invalidField(
                path: "profile.\(error.field)", reason: error.description,
                expected: "a profile as profile.set describes it")
        }
        return ProfileGet.Result(profile: ProfileRecord(try await profiles.set(profile, path: "profile.")))
    }

    private func remove(_ params: ProfileGet.Params, _: CallContext) async throws -> Done {
        try await profiles.remove(params.name)
        return Done()
    }
}

extension ProfileInput {
    /// The complete profile of this record, from RPC or from the configuration file.
    func readProfile() throws(ProfileTextError) -> Profile {
        var profile = profile
        if let baseURL { profile.baseURL = try ProfileText.baseURL(baseURL) }
        for (index, rule) in (headerRules ?? []).enumerated() {
            var hosts: [HostPattern] = []
            for (position, text) in rule.hosts.enumerated() {
                do throws(PolicyTextError) {
                    hosts.append(try PolicyText.host(text))
                } catch {
                    throw ProfileTextError(
                        field: "header_rules[\(index)].hosts[\(position)]", description: error.description)
                }
            }
            profile.headerRules.append(
                HeaderRule(hosts: hosts, set: rule.set?.fields ?? [], remove: rule.remove ?? []))
        }
        return profile
    }
}

extension ProfileRecord {
    init(_ entry: ProfileEntry) {
        self.init(entry.profile, origin: entry.isConfigured ? .configuration : .client)
    }
}
