import XferModel

/// Advice for failures whose cause is known, and for those in which a proxy has a part.
extension FailureAdvice {
    static func sentence(_ cause: FailureCause, _ failure: TaskSummary.Failure, id: Int64) -> String {
        let retry = SuggestedCommand.text("retry \(id)")
        switch cause {
        case .tlsVersion:
            let name = failure.policy.map { SuggestedCommand.quoted(SafeText.sanitised($0)) } ?? "NAME"
            let set = SuggestedCommand.ofOperator("policy set \(name) …")
            return
                "Have the server offer TLS 1.2 or later. If a trust policy requires more, "
                + "\(SuggestedCommand.text("policy show \(name)")) shows its options: repeat all of them with another "
                + "--min-tls in \(set), which replaces the whole policy. Then \(retry)."
        case .tlsParameters:
            return "Have the server's TLS updated: nothing that it offers is secure; then \(retry)."
        case .clientCertificateRequired:
            return "Give the server a client certificate: "
                + SuggestedCommand.ofOperator("update \(id) --cert FILE --key FILE") + ", then \(retry)."
        case .clientCertificateRefused:
            return "Ask the server's operator which client certificates it accepts; "
                + SuggestedCommand.ofOperator("update \(id) --cert FILE --key FILE")
                + " sets another one, then \(retry)."
        case .unknownServerName: return "Check the host's name in the URL: the server there has no site of that name."
        case .notTLS:
            return "Check the scheme and the port of the URL: the server there does not use TLS. If that is intended, "
                + "\(setSource("http", failure, id)) sets the URL with http:// in place of https://."
        case .tlsExpected:
            return "Set the URL with https:// in place of http://: the server there uses TLS "
                + "(\(setSource("https", failure, id)))."
        case .notHTTP:
            return "Check the scheme and the port of the URL: the answer is not HTTP. If it uses TLS, "
                + "\(setSource("https", failure, id)) sets the URL with https:// in place of http://."
        case .selfSigned, .unknownAuthority:
            if let advice = addition(failure, id: id) { return advice }
            return "If you know from its operator that this is the server's key, pin it: \(pinning(failure)), then "
                + "\(retry). Or add its CA to the daemon's configuration (trust.ca_file)."
        case .wrongHostName:
            let test = SuggestedCommand.ofOperator("policy test https://\(host(failure))")
            return "Use a name that the server's certificate has; \(test) shows them. If its key is pinned for "
                + "this host, a trust policy with --no-domain-name accepts it under any name."
        case .certificateDates:
            return "Have the server's certificate renewed, and check this machine's clock "
                + "(\(SuggestedCommand.text("doctor"))); then \(retry)."
        case .announcedDigest:
            return "The server announces this digest itself: it, or the file, is wrong. To accept the file anyway, "
                + "run \(SuggestedCommand.text("update \(id) --announced-digests ignore")), then \(retry)."
        case .sharedDigest:
            return "Check the checksum of the other task for the same file; \(retry) fetches it again."
        case .webPage:
            return "Check what the URL serves now, perhaps behind a sign-in page; \(retry) repeats the request."
        case .unprovenBeginning:
            return "Add it again with --checksum (not md5 or sha-1); or with --resume unsafe, if you know that the "
                + "file is the beginning of this one; or with --on-conflict verify or -o NAME in place of -c, which "
                + "fetch all of it."
        case .proxyNegotiate:
            return "Log in at the proxy with Kerberos: "
                + SuggestedCommand.text("update \(id) --proxy \(proxy(failure)) --proxy-negotiate")
                + " and a ticket for the daemon's user (kinit), then \(retry)."
        case .proxyLoginUnsupported:
            return
                "Ask the proxy's operator for a login by Basic, Digest or Negotiate, or go through a local proxy that "
                + "logs in there (such as cntlm)."
        }
    }

    /// The advice for a failure that a proxy caused or may have caused; nil if the reason's own sentence applies.
    static func proxySentence(_ failure: TaskSummary.Failure, id: Int64) -> String? {
        guard failure.proxy != nil, let reason = FailureReason(rawValue: failure.reason) else { return nil }
        let retry = SuggestedCommand.text("retry \(id)")
        let other = SuggestedCommand.text("update \(id) --proxy URL")
        let direct = SuggestedCommand.text("update \(id) --no-proxy '*'")
        switch reason {
        case .authFailed:
            let digest = failure.accepts("digest") && !failure.accepts("basic") ? " --proxy-digest" : ""
            return "Log in at the proxy: "
                + SuggestedCommand.text("update \(id) --proxy \(proxy(failure)) --proxy-user USER\(digest)")
                + ", then \(retry)."
        case .connectFailed where failure.httpStatus != nil, .httpStatus:
            return "Ask the proxy's operator, or set another proxy (\(other), or \(direct) for none), then \(retry)."
        case .dnsFailure, .connectFailed, .connectTimeout, .networkUnreachable, .connectionLost:
            return
                "Check that the proxy is up and reachable from here, or set another proxy (\(other), or \(direct) for "
                + "none), then \(retry)."
        default: return nil
        }
    }

    /// The command that sets the URL with another scheme.
    private static func setSource(_ scheme: String, _ failure: TaskSummary.Failure, _ id: Int64) -> String {
        SuggestedCommand.text("set-source \(id) '\(scheme)://\(host(failure))/…'")
    }

    /// The command that pins the key that the server showed.
    private static func pinning(_ failure: TaskSummary.Failure) -> String {
        let pin = failure.shownPin.map { SafeText.sanitised($0) } ?? "PIN"
        let checksName = !failure.furtherCauses.contains(.wrongHostName)
        return SuggestedCommand.ofOperator(pinningCommand(host(failure), pin, checksName: checksName))
    }

    /// The advice for a host that has a trust policy of its own, with pins perhaps: a second policy for it would be
    /// refused. Nil if only the default policy applies.
    static func addition(_ failure: TaskSummary.Failure, id: Int64) -> String? {
        guard let policy = failure.policy, policy != TrustPolicy.defaultName else { return nil }
        return
            "The trust policy \"\(SafeText.sanitised(policy))\" decides for this host. If you know from its operator "
            + "that it has this key now, \(SuggestedCommand.ofOperator("policy pin \(host(failure))")) prints the command "
            + "for the policy; then \(SuggestedCommand.text("retry \(id)"))."
    }

    /// The command that pins a key for a host.
    ///
    /// - Parameters:
    ///   - host: with its port.
    ///   - pin: as `sha256/BASE64`.
    ///   - checksName: false if the certificate is not valid for the host, so that a policy that checks the name would
    ///     refuse the pinned key, too.
    static func pinningCommand(_ host: String, _ pin: String, checksName: Bool) -> String {
        let name = host.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" }
        let lax = checksName ? "" : " --no-domain-name"
        return "policy set \(String(name.prefix(64))) --host \(host) --allow-invalid-certificates\(lax) --pin \(pin)"
    }

    private static func host(_ failure: TaskSummary.Failure) -> String {
        failure.host.map { SafeText.sanitised($0) } ?? "HOST"
    }

    private static func proxy(_ failure: TaskSummary.Failure) -> String {
        failure.proxy.map { SafeText.sanitised($0) } ?? "URL"
    }
}

/// The proxies that the environment of this command names. The daemon has another environment.
struct CallerProxies: Sendable {
    private let settings: [ProxySettings]

    /// - Parameter environment: a variable that cannot be parsed counts as absent.
    init(_ environment: (String) -> String? = environmentValue) {
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
        let pairs = names.compactMap { name in environment(name).map { (name, $0) } }
        let proxies = try? EnvironmentProxies(Dictionary(pairs) { $1 })
        settings = HTTPURL.Scheme.allCases.reversed().compactMap { proxies?.settings(for: $0) }
    }

    /// The URLs, without user info.
    var urls: [String] { settings.map(\.url).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    /// The proxy for a host; nil if there is none.
    /// - Parameter host: with or without a port.
    func url(for host: String) -> String? {
        let afterBracket = host.lastIndex(of: "]").map { host.index(after: $0) } ?? host.startIndex
        let colon = host[afterBracket...].firstIndex(of: ":") ?? host.endIndex
        return settings.first { !ProxyExceptions.contain(String(host[..<colon]), in: $0.exceptions) }?.url
    }

    /// A sentence for a failure to connect, where a person's other programs go through a proxy; nil for other failures.
    func note(about failure: TaskSummary.Failure, id: Int64) -> String? {
        guard failure.proxy == nil, let reason = FailureReason(rawValue: failure.reason),
            [.dnsFailure, .connectFailed, .connectTimeout, .networkUnreachable].contains(reason),
            let host = failure.host, let url = url(for: host)
        else { return nil }
        return "Your environment sets the proxy \(SafeText.sanitised(url)), which the daemon does not use: "
            + SuggestedCommand.text("update \(id) --proxy \(SafeText.sanitised(url))")
            + " sets it, network.proxy_from_environment sets the daemon's own for all tasks."
    }
}
