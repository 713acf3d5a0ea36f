import COpenSSL
import Glibc
import XferModel

/// The server's side of one connection, with TLS or without; used by one thread. The caller owns the socket.
final class ServerStream {
    let socket: Int32
    private let ssl: OpaquePointer?
    private var buffer: [UInt8] = []

    init(_ socket: Int32) {
        self.socket = socket
        ssl = nil
    }

    /// Accepts a connection. Returns nil when the handshake failed.
    init?(accepting socket: Int32, _ context: TLSServerContext) {
        self.socket = socket
        guard let ssl = SSL_new(context.pointer) else { return nil }
        guard SSL_set_fd(ssl, socket) == 1, SSL_accept(ssl) == 1 else {
            ERR_clear_error()
            SSL_free(ssl)
            return nil
        }
        self.ssl = ssl
    }

    deinit { SSL_free(ssl) }

    var isResumed: Bool { ssl.map { SSL_session_reused($0) == 1 } ?? false }

    var clientSubject: String? {
        guard let ssl, let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
        defer { X509_free(certificate) }
        guard let text = X509_NAME_oneline(X509_get_subject_name(certificate), nil, 0) else { return nil }
        defer { CRYPTO_free(text, "", 0) }
        return String(cString: text)
    }

    /// True if bytes wait that poll(2) does not report.
    var hasPending: Bool { !buffer.isEmpty || (ssl.map { SSL_pending($0) > 0 } ?? false) }

    /// Reads some bytes; nil at the end.
    func read() -> [UInt8]? {
        if !buffer.isEmpty {
            defer { buffer = [] }
            return buffer
        }
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        let count = ssl.map { Int(SSL_read($0, &chunk, Int32(chunk.count))) } ?? recv(socket, &chunk, chunk.count, 0)
        guard count > 0 else {
            ERR_clear_error()
            return nil
        }
        return Array(chunk[..<count])
    }

    /// Reads a request's head; nil at the end. Bytes after it stay in the buffer.
    func readHead() -> String? {
        var head: [UInt8] = []
        while let bytes = read() {
            head += bytes
            let text = String(decoding: head, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                buffer = Array(text[end.upperBound...].utf8)
                return String(text[..<end.lowerBound])
            }
        }
        return nil
    }

    /// Reads and answers the SOCKS 5 greeting and CONNECT request (RFC 1928). Returns the requested address.
    /// - Parameter login: `user:password` that the client has to send (RFC 1929).
    func acceptSOCKS(login: String?) -> (host: String, port: UInt16)? {
        guard let greeting = read(), greeting.count >= 3, greeting[0] == 5 else { return nil }
        let wanted: UInt8 = login == nil ? 0 : 2
        guard greeting[2...].contains(wanted) else {
            _ = write([5, 0xff])
            return nil
        }
        guard write([5, wanted]) else { return nil }
        if let login, !acceptSOCKSLogin(login) { return nil }
        guard let request = read(), request.count >= 10, request[1] == 1, write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) else {
            return nil
        }
        let address = request[4..<request.count - 2]
        let host =
            request[3] == 3
            ? String(decoding: address.dropFirst(), as: UTF8.self)
            : IPAddress(bytes: Array(address))?.description ?? "?"
        return (host, UInt16(request[request.count - 2]) << 8 | UInt16(request[request.count - 1]))
    }

    private func acceptSOCKSLogin(_ login: String) -> Bool {
        guard let shown = read(), shown.count > 2, shown[0] == 1 else { return false }
        let user = shown[2...].prefix(Int(shown[1]))
        let isRight =
            String(decoding: user, as: UTF8.self) + ":"
            + String(decoding: shown[(user.endIndex + 1)...], as: UTF8.self) == login
        return write([1, isRight ? 0 : 1]) && isRight
    }

    func sendCloseNotify() {
        if let ssl { SSL_shutdown(ssl) }
    }

    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                ssl.map { Int(SSL_write($0, buffer.baseAddress, Int32(buffer.count))) }
                    ?? send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                ERR_clear_error()
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// A server's `SSL_CTX`.
///
/// `@unchecked Sendable`: prepared before it is shared; OpenSSL locks the data that connections change.
final class TLSServerContext: @unchecked Sendable {
    let pointer: OpaquePointer
    private let staple: Staple?

    init(_ options: TLSServer.Options) throws {
        staple = options.staple.map { Staple($0) }
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw CertificateFailure("TLS context") }
        pointer = context
        // Level 0, so that the server can use small keys, too.
        SSL_CTX_set_security_level(context, 0)
        let key = try CertificateKey(pem: options.privateKey)
        for (index, certificate) in Self.certificates(options.chain).enumerated() {
            defer { X509_free(certificate) }
            let isTaken =
                index == 0
                ? SSL_CTX_use_certificate(context, certificate) == 1
                : xfer_ssl_ctx_add_chain_certificate(context, certificate) == 1
            guard isTaken else { throw CertificateFailure("chain") }
        }
        guard SSL_CTX_use_PrivateKey(context, key.pointer) == 1 else { throw CertificateFailure("private key") }
        if options.maxVersion != 0 {
            _ = xfer_ssl_ctx_set_min_proto_version(context, 0)
            guard xfer_ssl_ctx_set_max_proto_version(context, options.maxVersion) == 1 else {
                throw CertificateFailure("version")
            }
        }
        if !options.offersResumption {
            SSL_CTX_set_options(context, xfer_ssl_op_no_ticket)
            xfer_ssl_ctx_disable_session_cache(context)
        }
        if options.speaksHTTP2 { SSL_CTX_set_alpn_select_cb(context, chooseHTTP2, nil) }
        try staple?.install(on: context)
        if let authority = options.clientAuthority {
            for certificate in Self.certificates(authority) {
                X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate)
                X509_free(certificate)
            }
            let mode = SSL_VERIFY_PEER | (options.requiresClient ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
            SSL_CTX_set_verify(context, mode, nil)
            // Needed with a session cache that knows clients.
            SSL_CTX_set_session_id_context(context, [1], 1)
        }
    }

    deinit { SSL_CTX_free(pointer) }

    private static func certificates(_ pem: String) -> [OpaquePointer] {
        let bytes = Array(pem.utf8)
        return bytes.withUnsafeBytes { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
            defer {
                BIO_free(bio)
                ERR_clear_error()
            }
            var found: [OpaquePointer] = []
            while let next = PEM_read_bio_X509(bio, nil, nil, nil) { found.append(next) }
            return found
        }
    }
}

/// SSL_CTX_set_alpn_select_cb(3): HTTP/2 if the client offers it, else HTTP/1.1.
private nonisolated func chooseHTTP2(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ length: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ count: UInt32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let offered, let chosen, let length else { return SSL_TLSEXT_ERR_NOACK }
    var names: [(start: Int, name: [UInt8])] = []
    var next = 0
    while next < Int(count) {
        let end = min(next + 1 + Int(offered[next]), Int(count))
        names.append((next + 1, (next + 1..<end).map { offered[$0] }))
        next = end
    }
    guard
        let choice = names.first(where: { $0.name.elementsEqual("h2".utf8) })
            ?? names.first(where: { $0.name.elementsEqual("http/1.1".utf8) })
    else { return SSL_TLSEXT_ERR_NOACK }
    chosen.pointee = offered + choice.start
    length.pointee = UInt8(clamping: choice.name.count)
    return SSL_TLSEXT_ERR_OK
}
