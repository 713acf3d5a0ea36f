import COpenSSL
import Glibc
public import XferCore
import XferModel

/// One TLS handshake with a server to inspect its certificates and their judgement. No request is sent.
public enum ServerProbe {
    /// The result of the handshake.
    public struct Report: Sendable {
        /// The certificates as sent, leaf first; empty if the handshake did not get so far.
        public var chain: [Certificate]
        /// The judgement of the server's certificates, or nil if the handshake ended before it.
        public var verdict: TrustVerdict?
        /// The status of the stapled OCSP response; nil when the handshake did not get so far.
        public var stapledStatus: StapledStatus?
        /// The TLS version, for example `TLSv1.3`; nil unless the handshake succeeded.
        public var version: String?
        /// OpenSSL's reason why the handshake failed, nil when it succeeded.
        public var failure: String?

        public init(
            chain: [Certificate], verdict: TrustVerdict?, stapledStatus: StapledStatus?, version: String?,
            failure: String?
        ) {
            self.stapledStatus = stapledStatus
            self.chain = chain
            self.verdict = verdict
            self.version = version
            self.failure = failure
        }
    }

    /// Performs a handshake over a connected blocking socket, under the rules of every connection of this service.
    /// Blocks: bound it with SO_RCVTIMEO and SO_SNDTIMEO. The socket stays open.
    /// - Throws: when OpenSSL cannot be prepared.
    public static func handshake(
        over socket: Int32, with target: TrustTarget, evaluator: ServerTrustEvaluator,
        identity: ClientIdentity? = nil
    ) throws(HandshakeHookError) -> Report {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw HandshakeHookError("a TLS context") }
        defer { SSL_CTX_free(context) }
        let seen = Seen()
        let hook = HandshakeHook(
            id: 0, target: { _ in target },
            onVerdict: { _, verdict, chain in
                seen.verdict = verdict
                seen.chain = chain
            },
            onStatus: { _, status, verdict in
                seen.status = status
                seen.verdict?.add(verdict)
            })
        try hook.install(
            on: UnsafeMutableRawPointer(context), evaluator: evaluator, minimumTLS: target.policies.minimumTLS,
            identity: identity)
        guard let ssl = SSL_new(context) else { throw HandshakeHookError("a TLS connection") }
        defer { SSL_free(ssl) }
        if case .domain(let name) = target.host { _ = xfer_ssl_set_server_name(ssl, name) }
        guard SSL_set_fd(ssl, socket) == 1 else { throw HandshakeHookError("the socket") }
        let result = SSL_connect(ssl)
        let failure = result == 1 ? nil : Self.reason(ssl, result)
        if result == 1 { SSL_shutdown(ssl) }
        ERR_clear_error()
        return Report(
            chain: seen.chain, verdict: seen.verdict, stapledStatus: seen.status,
            version: result == 1 ? SSL_get_version(ssl).map { String(cString: $0) } : nil, failure: failure)
    }

    private static func reason(_ ssl: OpaquePointer, _ result: Int32) -> String {
        let systemError = errno
        if let text = OpenSSLError.removeText() { return text }
        return systemError == 0 ? "the server closed the connection" : String(cString: strerror(systemError))
    }
}

/// Collects the results that the handshake hook reports.
///
/// `@unchecked Sendable`: written and read on the thread that calls `SSL_connect`, which calls the hook itself.
private final class Seen: @unchecked Sendable {
    var verdict: TrustVerdict?
    var chain: [Certificate] = []
    var status: StapledStatus?
}
