import COpenSSL
import Glibc
import XferCore
import XferModel

/// One TLS handshake with a server to inspect its certificates and their judgement. No request is sent.
enum ServerProbe {
    /// The result of the handshake.
    struct Report: Sendable {
        /// The certificates as sent, leaf first; empty if the handshake did not get so far.
        var chain: [Certificate]
        /// The judgement of the server's certificates, or nil if the handshake ended before it.
        var verdict: TrustVerdict?
        /// The status of the stapled OCSP response; nil when the handshake did not get so far.
        var stapledStatus: StapledStatus?
        /// The TLS version, for example `TLSv1.3`; nil unless the handshake succeeded.
        var version: String?
        /// The reason why the handshake failed, OpenSSL's or the missing answer; nil when it succeeded.
        var failure: String?
    }

    /// Performs a handshake over a connected socket, under the rules of every connection of this service. Blocks for
    /// `timeout` seconds at most. The socket stays open, and does not block any more.
    ///
    /// - Throws: when OpenSSL cannot be prepared.
    static func handshake(
        over socket: Int32, with target: TrustTarget, evaluator: ServerTrustEvaluator,
        identity: ClientIdentity? = nil, timeout: Int = 10
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
        let failure = connect(ssl, over: socket, timeout: timeout)
        if failure == nil { SSL_shutdown(ssl) }
        ERR_clear_error()
        return Report(
            chain: seen.chain, verdict: seen.verdict, stapledStatus: seen.status,
            version: failure == nil ? SSL_get_version(ssl).map { String(cString: $0) } : nil, failure: failure)
    }

    /// Performs the handshake. Returns the reason why it failed; nil if it succeeded.
    private static func connect(_ ssl: OpaquePointer, over socket: Int32, timeout: Int) -> String? {
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        let end = ContinuousClock.now.advanced(by: .seconds(timeout))
        while true {
            errno = 0
            let result = SSL_connect(ssl)
            let systemError = errno
            if result == 1 { return nil }
            var watched = pollfd(fd: socket, events: 0, revents: 0)
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: watched.events = Int16(POLLIN)
            case SSL_ERROR_WANT_WRITE: watched.events = Int16(POLLOUT)
            default: return reason(systemError)
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return "no answer within \(timeout) s" }
            let (seconds, attoseconds) = left.components
            // An interrupted wait, and one that ends early, is repeated.
            _ = poll(&watched, 1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
        }
    }

    private static func reason(_ systemError: Int32) -> String {
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
