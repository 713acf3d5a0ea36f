import CCurl
import XferCore
import XferModel

/// Creates the attempt's error from libcurl's report about a failed request, and identifies the party that failed: the
/// server, or the proxy on the way.
extension Hop {
    /// Returns the error of a request that ended with this code. Call it before the handle is reset.
    func failure(_ code: CURLcode) -> TransferError {
        guard let (session, handle) = connection else {
            return CurlError.transferError(code, detail: "", osError: 0, url)
        }
        let (detail, osError) = (handle.errorText, handle.osError)
        let proxy = session.key.spec.key.proxy
        if let proxy, let refusal = refusal(of: proxy, code, detail) { return refusal }
        let party = failedParty(code, proxy)
        var error = CurlError.transferError(code, detail: detail, osError: osError, url)
        switch (party, proxy) {
        case (.proxy, let proxy?):
            error.message = "the proxy \(proxy): \(CurlError.text(code, detail))"
            error.proxy = proxy
        case (.origin, let proxy?):
            error.message += " (through the proxy \(proxy))"
        case (_, nil):
            // libcurl names the URL's host and port only.
            if let socket = session.key.spec.key.connections.unixSocket {
                error.message += " (through the Unix socket \(socket))"
            }
        }
        if hasAnswer { return error }
        if let tls = TLSRefusal(detail, circumstances(of: party)) {
            error.reason = .connectFailed
            error.cause = tls.cause
            error.message = "\(party == .proxy ? "the proxy \(proxy ?? "")" : url.hostKey) \(tls.problem)"
            // If bytes came over TLS before, another node answers now, or a network's own page.
            error.isRetriable = isProven
        } else if party == .origin, isTLSExpected(code) {
            error.cause = .tlsExpected
            if code == CURLE_UNSUPPORTED_PROTOCOL { error.isRetriable = isProven }
        } else if party == .origin, code == CURLE_UNSUPPORTED_PROTOCOL, detail.contains("HTTP/0.9") {
            // The next answer may be valid, so it is retried.
            error.cause = .notHTTP
            error.message = "\(url.hostKey) does not answer with HTTP on this port"
        } else if error.reason == .connectionLost, lacksCertificate {
            // Some servers close the connection without an alert.
            error.cause = .clientCertificateRequired
        }
        return error
    }

    /// True if earlier attempts received bytes from the server.
    private var isProven: Bool {
        let kept = run.attempt.resumeData
        return kept.committedByteCount > 0 && kept.finalURL?.scheme == url.scheme
    }

    private func failedParty(_ code: CURLcode, _ proxy: String?) -> Handshakes.Party {
        guard let proxy else { return .origin }
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY: return .proxy
        case CURLE_COULDNT_RESOLVE_HOST: return .origin
        default: break
        }
        // The connection is the proxy's, and its parts beyond the proxy are unknown.
        if url.scheme == .http, !proxy.hasPrefix("socks") { return .proxy }
        if link.isConnected { return .origin }
        return link.handshakes.latest ?? .proxy
    }

    private func circumstances(of party: Handshakes.Party) -> TLSRefusal.Circumstances {
        guard let spec = connection?.session.key.spec else { return TLSRefusal.Circumstances() }
        let policies = party == .proxy ? spec.trust.proxyPolicies : spec.trust.policies
        return TLSRefusal.Circumstances(
            minimumTLS: policies.minimumTLS,
            wasCertificateRequested: link.handshakes.hasRequestedCertificate(party),
            hasCertificate: hasCertificate(for: party))
    }

    private func hasCertificate(for party: Handshakes.Party) -> Bool {
        guard let spec = connection?.session.key.spec else { return false }
        return party == .proxy
            ? spec.trust.proxyPolicies.clientCertificate != nil
            : (spec.key.clientCertificate ?? spec.trust.policies.clientCertificate) != nil
    }

    /// True if the server requested a client certificate, and there was none.
    private var lacksCertificate: Bool {
        link.handshakes.hasRequestedCertificate(.origin) && !hasCertificate(for: .origin)
    }

    /// True if an `http` request to a port that is usual for TLS got no valid response.
    private func isTLSExpected(_ code: CURLcode) -> Bool {
        guard url.scheme == .http, url.port % 1000 == 443 else { return false }
        return [CURLE_UNSUPPORTED_PROTOCOL, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_WEIRD_SERVER_REPLY]
            .contains(code)
    }

    // MARK: Proxies

    private var hasProxyLogin: Bool { connection?.session.key.spec.key.proxyLogin != nil }

    /// The failure if the proxy refused the request, or reports that it could not connect.
    private func refusal(of proxy: String, _ code: CURLcode, _ detail: String) -> TransferError? {
        guard let handle else { return nil }
        let curlCode = Int32(bitPattern: code.rawValue)
        let host = url.hostKey
        if code == CURLE_PROXY { return socksFailure(of: proxy, handle.proxyError, curlCode) }
        switch handle.proxyStatus {
        // Some proxies answer 401 to wrong credentials.
        case let status where status == 407 || status == 401:
            return ProxyChallenge(schemes: handle.proxyLogins)
                .failure(of: proxy, status: status, hasLogin: hasProxyLogin, host: host, curlCode: curlCode)
        case let status where status >= 300:
            // 4xx: the proxy refuses; 5xx: it failed.
            let isRetriable = status >= 500 || status == 408 || status == 429
            return TransferError(
                .connectFailed, "the proxy \(proxy) answered \(status) to the request to connect to \(host)",
                isRetriable: isRetriable, httpStatus: status, curlCode: curlCode, host: host, proxy: proxy)
        default:
            return nil
        }
    }

    /// The failure of a SOCKS proxy.
    ///
    /// - Parameter problem: the code of CURLINFO_PROXY_ERROR(3).
    private func socksFailure(of proxy: String, _ problem: CURLproxycode, _ curlCode: Int32) -> TransferError? {
        func failure(_ what: String, isRetriable: Bool = true) -> TransferError {
            TransferError(
                .connectFailed, "the proxy \(proxy) could not connect to \(url.hostKey): \(what)",
                isRetriable: isRetriable, curlCode: curlCode, host: url.hostKey, proxy: proxy)
        }
        switch problem {
        case CURLPX_USER_REJECTED, CURLPX_NO_AUTH, CURLPX_GSSAPI, CURLPX_GSSAPI_PERMSG, CURLPX_GSSAPI_PROTECTION:
            return ProxyChallenge(schemes: [])
                .failure(of: proxy, status: nil, hasLogin: hasProxyLogin, host: url.hostKey, curlCode: curlCode)
        case CURLPX_RESOLVE_HOST:
            return TransferError(
                .dnsFailure,
                "\(url.hostKey): the name could not be resolved here (the proxy \(proxy) gets addresses; "
                    + "with socks5h:// it resolves names)", curlCode: curlCode, host: url.hostKey)
        case CURLPX_REPLY_NOT_ALLOWED: return failure("its rules do not allow it", isRetriable: false)
        case CURLPX_REPLY_NETWORK_UNREACHABLE: return failure("network unreachable")
        case CURLPX_REPLY_HOST_UNREACHABLE: return failure("host unreachable")
        case CURLPX_REPLY_CONNECTION_REFUSED: return failure("connection refused")
        case CURLPX_REPLY_TTL_EXPIRED: return failure("no answer")
        case CURLPX_REPLY_GENERAL_SERVER_FAILURE: return failure("general failure")
        default: return nil
        }
    }

    // MARK: Responses

    /// Adds the facts from the handshake to the failure for a response's status.
    func explained(_ error: TransferError, _ head: ResponseHead) -> TransferError {
        guard [400, 401, 403, 495, 496].contains(head.status), lacksCertificate else { return error }
        var error = error
        error.cause = .clientCertificateRequired
        error.message += "; it requested a client certificate, and none was sent"
        return error
    }
}

extension EasyHandle {
    /// The status of the proxy's answer to CONNECT, 0 when there was none.
    fileprivate var proxyStatus: Int {
        var status = 0
        xfer_easy_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    /// The kinds of credentials that the proxy's answer to CONNECT accepts.
    fileprivate var proxyLogins: [String] {
        var mask = 0
        xfer_easy_get_long(easy, CURLINFO_PROXYAUTH_AVAIL, &mask)
        return [
            (xfer_auth_negotiate, "Negotiate"), (xfer_auth_ntlm, "NTLM"), (xfer_auth_digest, "Digest"),
            (xfer_auth_basic, "Basic"), (xfer_auth_bearer, "Bearer"),
        ].filter { mask & Int(clamping: $0.0) != 0 }.map(\.1)
    }

    /// The error that a SOCKS proxy reported.
    fileprivate var proxyError: CURLproxycode {
        var problem = 0
        xfer_easy_get_long(easy, CURLINFO_PROXY_ERROR, &problem)
        return CURLproxycode(rawValue: UInt32(clamping: problem))
    }
}
