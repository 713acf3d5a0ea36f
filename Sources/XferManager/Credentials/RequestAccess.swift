import XferCore
import XferCurl
import XferModel

/// The access of one attempt: secrets with the origins that may get them, cookies, and the proxies to use.
struct RequestAccess: Sendable {
    /// A client certificate and the origins that may get it.
    struct Certificate: Sendable {
        var files: ClientCertificateFiles
        var origins: [Origin]
    }

    /// The credential for `Attempt.credential`.
    var credential: ResolvedCredential?
    /// The name for `Attempt.cookieJar`; the jar is open.
    var cookieJar: String?
    var certificate: Certificate?
    var route = ProxyRoute()
    var connections = ConnectionRules()
    /// The host that `connections.unixSocket` leads to: the one of the task's URL.
    var socketHost: String?
    /// True if the task sets the authorities that it trusts.
    var hasOwnAuthorities = false

    /// Makes the session of a hop, for `Attempt.session`. Called on the engine's loop.
    func session(for url: HTTPURL, heldTo trust: RunTrust) throws(TransferError) -> SessionSpec {
        var connections = connections
        if url.host != socketHost { connections.unixSocket = nil }
        let proxy = connections.unixSocket == nil ? route.proxy(for: url) : nil
        let rules = try trust.admit(url, through: proxy?.server)
        if let target = connections.target(ofHost: url.host, port: url.port),
            let refusal = rules.refusal(ofHost: target.host, port: target.port)
        {
            throw TransferError(.rejectedByPolicy, "connect_to \(target.host): \(refusal)", host: url.hostKey)
        }
        let (origin, overProxy) = try trust.policies(for: url, through: proxy?.server)
        let versions = (origin.all + (overProxy?.all ?? [])).map(\.policy.version)
        let isBound = url.scheme == .https && certificate?.origins.contains(url.origin) == true
        let key = SessionKey(
            profile: cookieJar ?? "", trustVersions: versions, proxy: proxy?.server.url, proxyLogin: proxy?.login,
            clientCertificate: isBound ? certificate?.files : nil, connections: connections)
        var settings = TrustSettings(
            caFile: trust.authoritiesFile, policies: origin, proxyPolicies: overProxy ?? .ordinary)
        settings.isOwnFile = hasOwnAuthorities
        return SessionSpec(key: key, trust: settings, admission: rules)
    }

    /// Returns the sessions for an attempt, with the rules of `session(for:heldTo:)`.
    func sessions(heldTo trust: RunTrust) -> SessionChooser {
        { url throws(TransferError) in try session(for: url, heldTo: trust) }
    }
}

/// The proxies of an attempt, with their credentials read.
struct ProxyRoute: Sendable {
    struct Proxy: Sendable {
        var server: ProxyServer
        var login: ProxyLogin?
        var exceptions: [String]
    }

    /// The task's.
    var chosen: Proxy?
    /// The environment's, if it is used and the task names none.
    var defaults: [HTTPURL.Scheme: Proxy] = [:]

    /// The proxy for a hop; nil connects directly.
    func proxy(for url: HTTPURL) -> Proxy? {
        guard let proxy = chosen ?? defaults[url.scheme], !ProxyExceptions.contain(url.host, in: proxy.exceptions)
        else {
            return nil
        }
        return proxy
    }
}
