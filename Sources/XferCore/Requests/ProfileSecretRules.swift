public import XferModel

/// Decides which servers and proxies may receive a profile's secrets. Only the operator who wrote the profile chooses
/// them. A guest specifies the profile and all other fields of its task, but none of these fields may send a secret
/// elsewhere.
///
/// Other code binds credentials and client certificates to their origins at every hop. These rules cover the other ways
/// to disclose a secret: the profile's header fields and header rules, its cookies, the proxy, and the `Host` field.
public enum ProfileSecretRules {
    /// The profile as a guest's task may use it. Its secret header fields remain only if the first source has an origin
    /// of the profile. If the profile has origins, its cookies remain only if all sources have one of them. A profile
    /// without origins loses its secret header fields.
    ///
    /// - Parameter sources: the task's URLs, in their order.
    public static func profile(_ profile: Profile, for sources: [HTTPURL]) -> Profile {
        let origins = origins(of: profile)
        var shown = profile
        if sources.first.map({ !origins.contains($0.origin) }) ?? true {
            shown.headers.removeAll { Redaction.isSecretHeader($0.name) }
            for index in shown.headerRules.indices {
                shown.headerRules[index].set.removeAll { Redaction.isSecretHeader($0.name) }
            }
        }
        if !origins.isEmpty, !sources.allSatisfy({ origins.contains($0.origin) }) { shown.keepsCookies = false }
        return shown
    }

    /// The reason why a guest's request with the profile's secrets is refused; nil when it is allowed.
    public static func refusal(of request: TransferRequest, with profile: Profile) -> RequestFault? {
        guard showsSecrets(of: profile, request) else { return nil }
        let way = "to use the profile's secrets; credential, client_cert, cookies and secret headers can be null"
        guard request.proxy == profile.proxy else {
            return RequestFault(
                field: "proxy", reason: "the profile's secrets go over its own proxy, or over none if it has none",
                expected: "no proxy of the task's own, \(way)")
        }
        guard request.headers.firstValue(named: "Host") == profile.headers.firstValue(named: "Host") else {
            return RequestFault(
                field: "headers", reason: "the profile's secrets are only for its own host",
                expected: "no Host of the task's own, \(way)")
        }
        return nil
    }

    /// True if the request uses a secret of the profile: its credential, client certificate or cookies, or the value of
    /// one of its secret header fields.
    public static func showsSecrets(of profile: Profile, _ request: TransferRequest) -> Bool {
        if request.usesProfileSecrets || request.usesCookies { return true }
        let fields = profile.headers + profile.headerRules.flatMap(\.set)
        let secrets = Set(fields.filter { Redaction.isSecretHeader($0.name) }.map(\.value))
        return (request.headers + request.headerRules.flatMap(\.set)).contains { secrets.contains($0.value) }
    }

    /// Removes secret header fields, `Host` and cookies from a guest's request, because they are bound to its present
    /// origin. Call it before the request's URL changes.
    public static func unbind(_ request: inout TransferRequest) {
        request.headers.removeAll { Redaction.isSecretHeader($0.name) || $0.name.equalsIgnoringASCIICase("Host") }
        for index in request.headerRules.indices {
            request.headerRules[index].set.removeAll { Redaction.isSecretHeader($0.name) }
        }
        request.usesCookies = false
    }

    private static func origins(of profile: Profile) -> Set<Origin> {
        Set((profile.baseURL.map { [$0.origin] } ?? []) + (profile.credential?.origins ?? []))
    }
}
