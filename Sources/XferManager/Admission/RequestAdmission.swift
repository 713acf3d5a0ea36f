import XferCore
import XferCurl
import XferModel
import XferStore

/// Checks a new request: whether its hosts are allowed, and whether the caller may use the secrets it names.
struct RequestAdmission: Sendable {
    let rules: AdmissionRules
    let isOperator: Bool
    let store: TaskStore

    /// Checks the request of a task.
    ///
    /// - Parameters:
    ///   - path: the prefix of field names in errors.
    ///   - before: the previous request, if the task exists.
    func check(_ specification: TaskSpecification, path: String, before: TransferRequest? = nil) async throws {
        let request = specification.request
        for (index, url) in specification.sources.enumerated() {
            guard let refusal = rules.refusal(ofHost: url.host, port: url.port) else { continue }
            throw ManagerError.rejectedByPolicy(
                path: path + specification.urlField(index), reason: refusal.description)
        }
        if let credential = request.credential {
            try check(credential, for: .origin, isOperator: isOperator, path: path + "credential")
        }
        if request.clientCertificate != nil, !isOperator {
            throw ManagerError.permissionDenied(
                path: path + "client_cert", reason: "only operators may set a file with a key")
        }
        // A guest that leaves out what its profile says changes it, too.
        let mayDiffer = !isOperator && specification.profile != nil && before == nil
        if mayDiffer || request.connections != before?.connections ?? ConnectionRules() {
            try await check(request.connections, profile: specification.profile, path: path)
        }
        if let proxy = request.proxy { try await check(proxy, profile: specification.profile, path: path + "proxy") }
        if !isOperator, let profile = try await profile(named: specification.profile),
            let fault = ProfileSecretRules.refusal(of: request, with: profile)
        {
            throw ManagerError.permissionDenied(
                path: path + fault.field, reason: "\(fault.reason): expected \(fault.expected ?? "it to be left out")")
        }
    }

    /// Checks that the user may set these options. An operator has set those of a profile, so
    /// every user of the profile may use them, and cannot change them.
    private func check(_ options: ConnectionRules, profile: String?, path: String) async throws {
        for (index, rule) in options.connectTo.enumerated() {
            // An empty target is the URL's host, which is checked by itself.
            guard !rule.target.isEmpty,
                let refusal = rules.refusal(ofHost: rule.target, port: rule.targetPort ?? rule.port ?? 443)
            else { continue }
            throw ManagerError.rejectedByPolicy(path: path + "connect_to[\(index)]", reason: refusal.description)
        }
        guard !isOperator else { return }
        var own = ConnectionRules()
        if let choices = try await self.profile(named: profile)?.choices { own.apply(choices) }
        guard let field = options.firstDifference(from: own) else { return }
        throw ManagerError.permissionDenied(
            path: path + field, reason: "only operators may choose how connections are made")
    }

    private func check(_ proxy: ProxySettings, profile: String?, path: String) async throws {
        let server: ProxyServer
        do throws(ProxyFault) {
            server = try ProxyServer(proxy.url)
        } catch {
            throw ManagerError.invalidField(
                path: path, reason: "the proxy \(error)",
                expected: "http://, https://, socks5:// or socks5h:// with host and port"
            )
        }
        if let bad = proxy.exceptions.first(where: { !ProxyExceptions.isValid($0) }) {
            throw ManagerError.invalidField(
                path: path, reason: "\(bad.prefix(200)) is not a host that can bypass a proxy",
                expected: "a host name, an address, a block like 10.0.0.0/8, or *")
        }
        if let refusal = rules.refusal(ofHost: server.host, port: server.port) {
            throw ManagerError.rejectedByPolicy(path: path, reason: refusal.description)
        }
        guard let credential = proxy.credential else { return }
        if credential.scheme == .negotiate, !ProxyLogin.Scheme.negotiate.isSupported {
            throw ManagerError.invalidField(
                path: path + ".credential", reason: "this machine's libcurl was built without Negotiate (GSS-API)",
                expected: "basic or digest")
        }
        // A profile's proxy was set by an operator, so every user of the profile may use it.
        let shared = try await self.profile(named: profile)?.proxy
        try check(credential, for: .proxy, isOperator: isOperator || proxy == shared, path: path)
    }

    private func profile(named name: String?) async throws -> Profile? {
        guard let name else { return nil }
        do {
            return try await store.read { try $0.profiles.find(named: name)?.profile }
        } catch StoreError.unreadable {
            throw ManagerError.damagedProfile(name, path: "profile")
        }
    }

    private func check(
        _ credential: Credential, for recipient: CredentialRules.Recipient, isOperator: Bool, path: String
    ) throws {
        do throws(CredentialFault) {
            try CredentialRules.check(credential, for: recipient, isOperator: isOperator)
        } catch {
            let reason = "\(error.field): \(error.reason)"
            if error.isPermission { throw ManagerError.permissionDenied(path: path, reason: reason) }
            throw ManagerError.invalidField(path: path, reason: reason, expected: "a credential that can be used")
        }
    }
}

extension TaskSpecification {
    /// The field of a source, for errors.
    func urlField(_ index: Int) -> String { mirrors.isEmpty ? "url" : "urls[\(index)]" }
}
