import COpenSSL
import Glibc
import XferModel
import XferTestSupport

@testable import XferCurl

/// A TLS client of one's own, set up as libcurl sets up its own: it keeps the sessions servers offer and offers them again.
final class RawTLSClient {
    private let context: OpaquePointer
    /// The last one a server offered.
    fileprivate(set) var session: OpaquePointer?

    init() throws {
        guard let made = SSL_CTX_new(TLS_client_method()) else { throw TimedOut("no TLS context") }
        context = made
        let mode = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(mode), nil)
        SSL_CTX_sess_set_new_cb(context, keepSession)
    }

    deinit {
        SSL_SESSION_free(session)
        SSL_CTX_free(context)
    }

    func install(_ hook: HandshakeHook, _ evaluator: ServerTrustEvaluator) throws {
        try hook.install(on: UnsafeMutableRawPointer(context), evaluator: evaluator, minimumTLS: .tls12)
    }

    /// Everything passes.
    func trustEverybody() { SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil) }

    /// Shakes hands, asks for something, and offers the last session if there is one. Nil when the handshake failed, else
    /// whether the server resumed.
    func connect(to server: TLSServer) throws -> Bool? {
        let socket = try TLSServer.connect(port: server.port)
        defer { close(socket) }
        guard let ssl = SSL_new(context) else { throw TimedOut("no TLS connection") }
        defer {
            SSL_free(ssl)
            ERR_clear_error()
        }
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if let session { SSL_set_session(ssl, session) }
        guard SSL_set_fd(ssl, socket) == 1, SSL_connect(ssl) == 1 else { return nil }
        let isResumed = SSL_session_reused(ssl) == 1
        // TLS 1.3 offers sessions with what follows the handshake.
        let request = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        var answer = [UInt8](repeating: 0, count: 4096)
        guard SSL_write(ssl, request, Int32(request.count)) > 0, SSL_read(ssl, &answer, Int32(answer.count)) > 0 else {
            return nil
        }
        SSL_shutdown(ssl)
        return isResumed
    }
}

/// SSL_CTX_sess_set_new_cb(3): 1 keeps the reference.
private nonisolated func keepSession(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let ssl, let client = SSL_get_ex_data(ssl, 0) else { return 0 }
    let owner = Unmanaged<RawTLSClient>.fromOpaque(client).takeUnretainedValue()
    SSL_SESSION_free(owner.session)
    owner.session = session
    return 1
}
