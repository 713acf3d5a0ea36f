import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel

/// Inspects a server's certificates without transferring anything.
extension TrustPolicies {
    /// Makes a handshake with the URL's server under the policies of a task.
    ///
    /// - Throws: `ManagerError`.
    public nonisolated func test(url text: String, policy: String?) async throws -> ServerReport {
        let url: HTTPURL
        do throws(URLSyntaxError) {
            url = try CurlURL.parse(text).url
        } catch {
            throw ManagerError.invalidField(path: "url", reason: error.description, expected: "an https:// URL")
        }
        guard url.scheme == .https else {
            throw ManagerError.invalidField(
                path: "url", reason: "http has no certificates", expected: "an https:// URL")
        }
        let rules = try admissionRules(for: url.origin, path: "url")
        let resolver = services.policies.withLockedValue(\.resolver)
        let applied: AppliedPolicies
        do throws(PolicyResolutionError) {
            applied = try resolver.admit(url.origin, taskPolicy: policy, at: clock())
        } catch {
            if let policy, case .policyMissing = error { throw ManagerError.policyNotFound(policy) }
            throw ManagerError(error, path: "")
        }
        return try await inspect(url.origin, applied, rules, path: "url")
    }

    /// Shows a server's certificates after the default check. A user that pins them trusts the network once.
    ///
    /// - Throws: `ManagerError`.
    public nonisolated func showPins(host: String, port: UInt16) async throws -> ServerReport {
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        guard !host.contains(where: { "/?#@".contains($0) }),
            let url = try? CurlURL.parse("https://\(bracketed):\(port)/").url
        else {
            throw ManagerError.invalidField(
                path: "host", reason: "not a host", expected: "a host name or an IP address")
        }
        let rules = try admissionRules(for: url.origin, path: "host")
        return try await inspect(url.origin, .ordinary, rules, path: "host")
    }

    /// The rules in force, if they allow the host.
    private nonisolated func admissionRules(for origin: Origin, path: String) throws -> AdmissionRules {
        let rules = services.admission.withLockedValue(\.self)
        if let refusal = rules.refusal(ofHost: origin.host, port: origin.port) {
            throw ManagerError.rejectedByPolicy(path: path, reason: refusal.description)
        }
        return rules
    }

    private nonisolated func inspect(
        _ origin: Origin, _ applied: AppliedPolicies, _ rules: AdmissionRules, path: String
    ) async throws -> ServerReport {
        let authorities = context.settings.withLockedValue(\.authoritiesFile)
        let now = clock()
        do throws(AdmissionRefusal) {
            return try await context.inspections.run { () throws(AdmissionRefusal) in
                try ServerInspection.inspect(
                    origin, policies: applied, authoritiesFile: authorities, admission: rules, at: now)
            }
        } catch {
            throw ManagerError.rejectedByPolicy(path: path, reason: "\(origin.host): \(error)")
        }
    }
}
