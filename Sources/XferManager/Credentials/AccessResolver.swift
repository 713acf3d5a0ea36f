import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// Resolves the access of a request at each attempt: reads its secrets, or the profile's, from where they are stored.
///
/// A missing secret fails the attempt with `credential_missing`, which is not retried: a person has to restore it, then
/// call `task.retry`.
struct AccessResolver: Sendable {
    let store: TaskStore
    let pool: BlockingPool
    let cookies: CookieJars
    let secrets: SecretReader
    /// The proxies of the environment; nil if they are not used.
    let environmentProxies: NIOLockedValueBox<Result<EnvironmentProxies?, EnvironmentProxyFault>>

    /// Resolves the secrets of a request.
    ///
    /// - Parameters:
    ///   - profile: the name of the task's profile.
    ///   - isGuests: true if the owner is a guest, which may not decide where a profile's secrets are sent.
    func access(
        to request: TransferRequest, profile name: String?, isGuests: Bool = false
    ) async throws(TransferError) -> RequestAccess {
        guard request.isPlain else { return try await fullAccess(to: request, profile: name, isGuests: isGuests) }
        var access = try await plainAccess()
        access.connections = request.connections
        access.socketHost = request.url.host
        access.hasOwnAuthorities = request.authoritiesFile != nil
        return access
    }

    /// Determines the access of a request that needs more than the plain one. Not inlined: a thousand runs that need
    /// none of this would keep memory for it.
    @inline(never)
    private func fullAccess(
        to request: TransferRequest, profile name: String?, isGuests: Bool
    ) async throws(TransferError) -> RequestAccess {
        let profile = try await profile(named: name, of: request)
        var request = request
        // A guest's task uses the profile's current proxy, even if the task was added with another one.
        if isGuests, let profile, ProfileSecretRules.showsSecrets(of: profile, request) {
            request.proxy = profile.proxy
        }
        var access = RequestAccess()
        access.credential = try await credential(of: request, profile)
        access.certificate = try await certificate(of: request, profile)
        access.route = try await route(request.proxy)
        access.connections = request.connections
        access.socketHost = request.url.host
        access.hasOwnAuthorities = request.authoritiesFile != nil
        if request.usesCookies, let profile {
            try await cookies.open(profile.name)
            access.cookieJar = profile.name
        }
        return access
    }

    /// The access of requests that are plain.
    func plainAccess() async throws(TransferError) -> RequestAccess {
        var access = RequestAccess()
        access.route = try await route(nil)
        return access
    }

    /// Resolves only the credential, and reads its secret; nil if the request has none.
    func resolve(_ request: TransferRequest, profile name: String?) async throws(TransferError) -> ResolvedCredential? {
        try await credential(of: request, try await profile(named: name, of: request))
    }

    /// The hook that renews the profile's credential; nil if it has none, or if that cannot be read.
    func credentialHook(of name: String) async -> String? {
        let profiles = try? await store.read { try $0.profiles.all() }
        return profiles?.first { $0.profile.name == name }?.profile.credentialHook
    }

    private func profile(
        named name: String?, of request: TransferRequest
    ) async throws(TransferError) -> Profile? {
        guard let name, request.usesProfileSecrets || request.usesCookies else { return nil }
        let found: StoredProfile?
        do {
            found = try await store.read { try $0.profiles.find(named: name) }
        } catch {
            throw TransferError(.internalError, "the profile \"\(name)\" cannot be read: \(error)", isRetriable: true)
        }
        if found == nil, request.usesProfileSecrets {
            let what = request.usesProfileCredential ? "credential" : "client certificate"
            throw TransferError(.credentialMissing, "there is no profile \"\(name)\", whose \(what) the task uses")
        }
        return found?.profile
    }

    // MARK: Credentials

    private func credential(
        of request: TransferRequest, _ profile: Profile?
    ) async throws(TransferError) -> ResolvedCredential? {
        if let own = request.credential {
            let origins = own.origins.isEmpty ? [request.url.origin] : own.origins
            var resolved = try await resolve(own, of: "the task", origins: origins)
            // A secret file of a profile belongs to the operator: a user that names the profile must not choose which
            // servers get it.
            resolved.servesNamedHosts = own.servesNamedHosts
            resolved.urlPassword = own.urlPassword
            return resolved
        }
        guard request.usesProfileCredential, let profile, let shared = profile.credential else { return nil }
        let origins = shared.origins.isEmpty ? profile.baseURL.map { [$0.origin] } ?? [] : shared.origins
        // Otherwise a user that may name the profile could have the credential sent to any server.
        guard !origins.isEmpty else { throw unbound("credential", of: profile) }
        return try await resolve(shared, of: "profile \"\(profile.name)\"", origins: origins)
    }

    private func resolve(
        _ credential: Credential, of whose: String, origins: [Origin]
    ) async throws(TransferError) -> ResolvedCredential {
        ResolvedCredential(
            scheme: credential.scheme, user: credential.user, secret: try await secret(of: credential, whose),
            origins: origins)
    }

    private func secret(of credential: Credential, _ whose: String) async throws(TransferError) -> String {
        let text: String
        do throws(SecretFault) {
            text =
                if case .value(let value) = credential.secret {
                    value
                } else {
                    try await pool.run { [secrets] () throws(SecretFault) in try secrets.read(credential.secret) }
                }
        } catch {
            throw TransferError(.credentialMissing, "the credential of \(whose): \(error)")
        }
        if let problem = CredentialRules.problem(of: text, for: credential.scheme) {
            throw TransferError(.credentialMissing, "the credential of \(whose) cannot be used: the secret \(problem)")
        }
        return text
    }

    private func unbound(_ what: String, of profile: Profile) -> TransferError {
        TransferError(
            .credentialMissing,
            "the \(what) of profile \"\(profile.name)\" cannot be sent: the profile has neither origins nor a base URL"
        )
    }

    // MARK: Client certificates

    private func certificate(
        of request: TransferRequest, _ profile: Profile?
    ) async throws(TransferError) -> RequestAccess.Certificate? {
        var found: RequestAccess.Certificate?
        if let files = request.clientCertificate {
            found = RequestAccess.Certificate(files: files, origins: [request.url.origin])
        } else if request.usesProfileCertificate, let profile, let files = profile.clientCertificate {
            let origins = profile.baseURL.map { [$0.origin] } ?? profile.credential?.origins ?? []
            guard !origins.isEmpty else { throw unbound("client certificate", of: profile) }
            found = RequestAccess.Certificate(files: files, origins: origins)
        }
        guard let found else { return nil }
        do throws(PolicyReadingError) {
            try await pool.run { () throws(PolicyReadingError) in try PolicyReading.check(found.files) }
        } catch {
            throw TransferError(.credentialMissing, "the client certificate: \(error)")
        }
        return found
    }

    // MARK: Proxies

    /// Determines the proxy of a request.
    ///
    /// - Parameter chosen: the request's own proxy.
    private func route(_ chosen: ProxySettings?) async throws(TransferError) -> ProxyRoute {
        var route = ProxyRoute()
        if let settings = chosen {
            route.chosen = try await proxy(settings)
        } else if let proxies = try defaultProxies() {
            for scheme in HTTPURL.Scheme.allCases {
                if let settings = proxies.settings(for: scheme) { route.defaults[scheme] = try await proxy(settings) }
            }
        }
        return route
    }

    private func defaultProxies() throws(TransferError) -> EnvironmentProxies? {
        do throws(EnvironmentProxyFault) {
            return try environmentProxies.withLockedValue(\.self).get()
        } catch {
            throw TransferError(
                .connectFailed, "network.proxy_from_environment is set, and \(error)", isRetriable: false)
        }
    }

    private func proxy(_ settings: ProxySettings) async throws(TransferError) -> ProxyRoute.Proxy {
        let server: ProxyServer
        do throws(ProxyFault) {
            server = try ProxyServer(settings.url)
        } catch {
            throw TransferError(.connectFailed, "the proxy \(error)", isRetriable: false)
        }
        var login: ProxyLogin?
        if let credential = settings.credential {
            let scheme: ProxyLogin.Scheme =
                switch credential.scheme {
                case .negotiate: .negotiate
                case .digest: .digest
                default: .basic
                }
            login = ProxyLogin(
                scheme, user: credential.user, password: try await secret(of: credential, "the proxy"))
        }
        return ProxyRoute.Proxy(server: server, login: login, exceptions: settings.exceptions)
    }
}
