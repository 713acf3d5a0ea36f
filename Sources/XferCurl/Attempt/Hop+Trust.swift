import CCurl
import XferCore
import XferModel

/// Applies the hop's trust policies to the server. All of it runs inside libcurl's callbacks.
extension Hop {
    /// Called when a socket is opened: with an `https` proxy the next handshake is the proxy's.
    func onSocket() {
        link.handshakes.onSocket(hasSecureProxy: connection?.session.key.spec.key.hasSecureProxy ?? false)
    }

    /// Installs this service's certificate check into the coming handshake; false refuses it.
    func onTLSContext(_ context: UnsafeMutableRawPointer) -> Bool {
        guard let (session, handle) = connection else { return false }
        let trust = session.key.spec.trust
        let party = link.handshakes.onContext()
        let policies = party == .proxy ? trust.proxyPolicies : trust.policies
        let tell: @Sendable (UInt, TrustVerdict) -> Void = { id, verdict in
            EngineCore.current?.handle(id)?.hop?.onVerdict(verdict, on: party)
        }
        let onStatus: @Sendable (UInt, StapledStatus, TrustVerdict) -> Void = { id, _, verdict in tell(id, verdict) }
        let hook = HandshakeHook(
            id: handle.id,
            target: { EngineCore.current?.handle($0)?.hop?.trustTarget(party) },
            onVerdict: { id, verdict, _ in tell(id, verdict) },
            onStatus: policies.requiresStapledOCSP ? onStatus : nil,
            onCertificateRequest: { id in
                EngineCore.current?.handle(id)?.hop?.link.handshakes.onCertificateRequest(party)
            },
            onCloseNotify: { EngineCore.current?.onCloseNotify($0) })
        do {
            let own = party == .origin ? session.key.spec.key.clientCertificate : nil
            let identity = try (own ?? policies.clientCertificate).map { files in try ClientIdentity(files) }
            try hook.install(
                on: context, evaluator: run.core.evaluator(caFile: trust.caFile), minimumTLS: policies.minimumTLS,
                identity: identity)
            return true
        } catch {
            refusal = trustError("\(url.hostKey): \(error)")
            return false
        }
    }

    /// The server with which the handshake has to be, or nil to refuse it. Called in the handshake. It repeats the
    /// checks that were made before the hop.
    private func trustTarget(_ party: Handshakes.Party) -> TrustTarget? {
        guard let (session, handle) = connection else { return nil }
        let spec = session.key.spec
        do throws(TransferError) {
            try requireSession(spec)
            guard handle.effectiveOrigin == url.origin else {
                throw trustError("libcurl connects to a host other than \(url.hostKey)")
            }
            switch party {
            case .origin:
                return TrustTarget(url.origin, policies: spec.trust.policies)
            case .proxy:
                guard let proxy = spec.key.proxy, let parsed = try? CurlURL.parse(proxy).url else {
                    throw trustError("the proxy's URL cannot be read")
                }
                return TrustTarget(parsed.origin, policies: spec.trust.proxyPolicies)
            }
        } catch {
            refusal = error
            return nil
        }
    }

    private func onVerdict(_ verdict: TrustVerdict, on party: Handshakes.Party) {
        link.handshakes.onVerdict(party)
        if verdict.isRemarkable {
            run.events.yield(.judged(verdict))
            run.requestMove()
        }
        guard let failure = verdict.failure else { return }
        refusal = TransferError(failure, curlCode: Int32(bitPattern: CURLE_PEER_FAILED_VERIFICATION.rawValue))
        if party == .origin {
            refusal?.host = url.hostKey
        } else {
            refusal?.proxy = connection?.session.key.spec.key.proxy
        }
    }

    /// True if the request may be sent. A new connection was judged in its handshake, since TLS sessions are never
    /// resumed; this check turns a mistake there into a failure. A reused connection was judged for its session, which
    /// still has to be the hop's.
    func isJudged() -> Bool {
        guard url.scheme == .https, !link.handshakes.isOriginJudged else { return true }
        guard let (session, handle) = connection, !handle.hasNewConnection else {
            refusal = trustError("the connection to \(url.hostKey) was not judged")
            return false
        }
        do throws(TransferError) {
            try requireSession(session.key.spec)
            return true
        } catch {
            refusal = error
            return false
        }
    }

    /// Repeats the decision that was made before the hop.
    private func requireSession(_ spec: SessionSpec) throws(TransferError) {
        guard try run.attempt.session(url) == spec else {
            throw trustError("the trust policies for \(url.hostKey) changed while connecting", isRetriable: true)
        }
    }

    /// Reports the sender of the present response, whose connection may be older than this request.
    func reportServer() {
        guard let onServer = run.attempt.onServer, let (session, handle) = connection else { return }
        let server = url.scheme == .https ? handle.tls.map(ConnectedServer.init) : nil
        onServer(
            SourceEvidence(
                origin: url.origin, chain: server?.chain ?? [], tls: server?.version,
                judgement: session.key.spec.trust.policies.judgement))
    }

    /// Records that the host demands https, if its certificates passed the ordinary check or an equally strict policy
    /// (RFC 6797 §8.1). Only the first field counts.
    func noteStrictTransport(_ head: ResponseHead) {
        guard url.scheme == .https, let field = head.fields.firstValue(named: "Strict-Transport-Security"),
            let trust = connection?.session.key.spec.trust, !trust.isOwnFile,
            trust.policies.enforced.allSatisfy({ !$0.isLax && $0.policy.validatesDomainName })
        else { return }
        run.core.shared.configuration.strictTransport.apply(field, of: url.host)
    }

    private func trustError(_ message: String, isRetriable: Bool = false) -> TransferError {
        TransferError(.trustRejected, message, isRetriable: isRetriable, host: url.hostKey)
    }
}
