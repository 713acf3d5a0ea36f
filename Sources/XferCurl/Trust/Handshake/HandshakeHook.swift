import COpenSSL
import XferCore
import XferModel

/// Installs `ServerTrustEvaluator` into a TLS client: it replaces OpenSSL's own check of the certificates.
///
/// It works on libcurl's `SSL_CTX` (CURLOPT_SSL_CTX_FUNCTION(3)) as on any other. The context's own certificate store
/// is never changed.
struct HandshakeHook: Sendable {
    /// The id that is passed to the closures below instead of an object: if the object was removed, `target` returns
    /// nil, and the handshake is refused.
    let id: UInt
    /// Returns the server that the handshake has to be with; nil refuses the handshake. Called in the handshake, on its
    /// thread.
    let target: @Sendable (UInt) -> TrustTarget?
    /// Called with each judgement and the server's certificates, leaf first, unless `target` returned nil. Called in
    /// the handshake, on its thread.
    let onVerdict: @Sendable (UInt, TrustVerdict, [Certificate]) -> Void
    /// Called with the status of the stapled response and its judgement, after `onVerdict` for an accepted chain.
    /// Called in the handshake, on its thread. If nil, no stapled response is requested.
    var onStatus: (@Sendable (UInt, StapledStatus, TrustVerdict) -> Void)?
    /// Called when the server requests a client certificate, even if there is none to send. Called in the handshake, on
    /// its thread.
    var onCertificateRequest: (@Sendable (UInt) -> Void)?
    /// Called with the `SSL` of a connection whose server has sent close_notify (RFC 8446 §6.1), on the thread that
    /// reads. If nil, alerts are not observed.
    var onCloseNotify: (@Sendable (UnsafeMutableRawPointer) -> Void)?

    /// Prepares a context before its first handshake.
    /// - Parameters:
    ///   - context: an `SSL_CTX`.
    ///   - identity: the certificate and key for servers that request a certificate.
    /// - Throws: if OpenSSL refuses a step. Then the context must not be used.
    func install(
        on context: UnsafeMutableRawPointer, evaluator: ServerTrustEvaluator, minimumTLS: TLSVersion,
        identity: ClientIdentity? = nil
    ) throws(HandshakeHookError) {
        let context = OpaquePointer(context)
        ERR_clear_error()
        guard contextIndex >= 0 else { throw HandshakeHookError("no index for data of SSL_CTX") }
        if let identity { try identity.install(on: context) }
        guard xfer_ssl_ctx_set_min_proto_version(context, minimumTLS.number) == 1 else {
            throw HandshakeHookError("the minimum TLS version")
        }
        // The hook would not judge a resumed session or a renegotiation, so both are disabled.
        SSL_CTX_set_options(context, xfer_ssl_op_no_renegotiation | xfer_ssl_op_no_ticket)
        xfer_ssl_ctx_disable_session_cache(context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)

        let judge = Unmanaged.passRetained(InstalledHook(hook: self, evaluator: evaluator))
        let previous = SSL_CTX_get_ex_data(context, contextIndex)
        guard SSL_CTX_set_ex_data(context, contextIndex, judge.toOpaque()) == 1 else {
            judge.release()
            throw HandshakeHookError("data of SSL_CTX")
        }
        SSL_CTX_set_cert_verify_callback(context, verifyServerCertificates, judge.toOpaque())
        if onCertificateRequest != nil { SSL_CTX_set_cert_cb(context, reportCertificateRequest, judge.toOpaque()) }
        // If no stapled response were requested, a policy that requires one would be bypassed.
        if onStatus != nil, xfer_ssl_ctx_request_status(context, verifyStapledStatus, judge.toOpaque()) != 1 {
            throw HandshakeHookError("asking for a stapled OCSP response")
        }
        if onCloseNotify != nil { SSL_CTX_set_info_callback(context, observeAlerts) }
        if let previous { Unmanaged<InstalledHook>.fromOpaque(previous).release() }
    }
}

/// OpenSSL refused part of a context's preparation.
struct HandshakeHookError: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ what: String) { description = "OpenSSL refused \(what): \(OpenSSLError.removeText() ?? "no reason given")" }
}

/// Owned by the `SSL_CTX` on which it is installed. Every `SSL` made from that context keeps the context alive.
private final class InstalledHook: Sendable {
    let hook: HandshakeHook
    let evaluator: ServerTrustEvaluator

    init(hook: HandshakeHook, evaluator: ServerTrustEvaluator) {
        self.hook = hook
        self.evaluator = evaluator
    }

    func judge(_ context: OpaquePointer) -> TrustVerdict {
        guard let target = hook.target(hook.id) else {
            let failure = TrustFailure(
                reason: .trustRejected, host: "", port: 0, policy: "", policyVersion: 0,
                code: X509_V_ERR_APPLICATION_VERIFICATION, problem: "the connection belongs to no request", chain: [])
            return TrustVerdict(failure: failure)
        }
        guard let leaf = X509_STORE_CTX_get0_cert(context), let ssl = Self.ssl(of: context) else {
            let verdict = evaluator.refuseWithoutCertificate(target)
            hook.onVerdict(hook.id, verdict, [])
            return verdict
        }
        let presented = PresentedChain(
            leaf: leaf, others: X509_STORE_CTX_get0_untrusted(context), securityLevel: SSL_get_security_level(ssl),
            tls: TLSVersion(number: SSL_version(ssl)))
        let verdict = evaluator.evaluate(presented, for: target)
        hook.onVerdict(hook.id, verdict, presented.certificates)
        return verdict
    }

    /// Judges the stapled response. Returns true if the handshake may continue. With TLS 1.2 the response arrives after
    /// the certificates have been judged.
    func judgeStatus(_ ssl: OpaquePointer) -> Bool {
        guard let target = hook.target(hook.id), let leaf = SSL_get0_peer_certificate(ssl) else { return false }
        let presented = PresentedChain(
            leaf: leaf, others: SSL_get_peer_cert_chain(ssl), securityLevel: SSL_get_security_level(ssl))
        var response: UnsafePointer<UInt8>?
        let count = xfer_ssl_status_response(ssl, &response)
        let staple = response.flatMap { count > 0 ? Array(UnsafeBufferPointer(start: $0, count: count)) : nil }
        let status = evaluator.status(of: staple, presented)
        let verdict = evaluator.evaluate(status, of: presented.certificates, for: target)
        hook.onStatus?(hook.id, status, verdict)
        return verdict.isAccepted
    }

    func onCloseNotify(_ ssl: OpaquePointer) { hook.onCloseNotify?(UnsafeMutableRawPointer(ssl)) }

    private static func ssl(of context: OpaquePointer) -> OpaquePointer? {
        X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
    }
}

// OpenSSL's callbacks. They are nonisolated functions at file scope: a closure would inherit its context's isolation
// and trap.

/// The index under which an `SSL_CTX` stores its `InstalledHook`.
private let contextIndex: Int32 = xfer_ssl_ctx_new_ex_index(releaseHook)

/// The callback of SSL_CTX_set_cert_verify_callback(3): 1 accepts.
private nonisolated func verifyServerCertificates(
    _ context: OpaquePointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context, let argument else { return 0 }
    let verdict = Unmanaged<InstalledHook>.fromOpaque(argument).takeUnretainedValue().judge(context)
    guard let failure = verdict.failure else {
        X509_STORE_CTX_set_error(context, X509_V_OK)
        return 1
    }
    // With any error code, libcurl ends with CURLE_PEER_FAILED_VERIFICATION.
    X509_STORE_CTX_set_error(context, failure.code == 0 ? X509_V_ERR_APPLICATION_VERIFICATION : failure.code)
    return 0
}

/// The callback for SSL_CTX_set_cert_cb(3). It returns 1, which continues with the certificate that is set, or with
/// none.
private nonisolated func reportCertificateRequest(
    _ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let argument else { return 1 }
    let hook = Unmanaged<InstalledHook>.fromOpaque(argument).takeUnretainedValue().hook
    hook.onCertificateRequest?(hook.id)
    return 1
}

/// The callback of SSL_CTX_set_tlsext_status_cb(3): 1 accepts.
private nonisolated func verifyStapledStatus(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let ssl, let argument else { return 0 }
    return Unmanaged<InstalledHook>.fromOpaque(argument).takeUnretainedValue().judgeStatus(ssl) ? 1 : 0
}

/// The callback of SSL_CTX_set_info_callback(3): receives alerts, and other information that is ignored.
private nonisolated func observeAlerts(_ ssl: OpaquePointer?, _ event: Int32, _ alert: Int32) {
    guard event == SSL_CB_READ_ALERT, alert & 0xff == SSL_AD_CLOSE_NOTIFY, let ssl,
        let hook = SSL_get_SSL_CTX(ssl).flatMap({ SSL_CTX_get_ex_data($0, contextIndex) })
    else { return }
    Unmanaged<InstalledHook>.fromOpaque(hook).takeUnretainedValue().onCloseNotify(ssl)
}

/// The callback of type CRYPTO_EX_free: called when the `SSL_CTX` is freed.
private nonisolated func releaseHook(
    _ parent: UnsafeMutableRawPointer?, _ value: UnsafeMutableRawPointer?,
    _ data: UnsafeMutablePointer<CRYPTO_EX_DATA>?,
    _ index: Int32, _ number: Int, _ pointer: UnsafeMutableRawPointer?
) {
    if let value { Unmanaged<InstalledHook>.fromOpaque(value).release() }
}

extension TLSVersion {
    fileprivate var number: Int32 {
        switch self {
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }

    /// Creates the version from its number in the protocol. Returns nil for versions that this service never
    /// negotiates.
    init?(number: Int32) {
        guard let version = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = version
    }
}
