import COpenSSL
import XferModel

/// The certificates that a connection's server sent in its handshake; the connection may have been open for a long
/// time.
struct ConnectedServer: Sendable {
    /// The certificates in DER, leaf first, at most `TrustFailure.maxChain` of them.
    let chain: [[UInt8]]
    let version: TLSVersion?

    /// - Parameter tls: an `SSL` whose handshake has ended.
    init(tls: UnsafeMutableRawPointer) {
        let ssl = OpaquePointer(tls)
        let stack = SSL_get_peer_cert_chain(ssl)
        let count = min(TrustFailure.maxChain, Int(clamping: max(0, stack.map { OPENSSL_sk_num($0) } ?? 0)))
        chain = (0..<count).compactMap { index in
            OPENSSL_sk_value(stack, Int32(clamping: index)).map { Certificate.der(of: OpaquePointer($0)) }
        }
        version = TLSVersion(number: SSL_version(ssl))
    }
}

/// The state of a connection's `SSL` after its handshake. Nothing is read from the network.
struct TLSState {
    private let ssl: OpaquePointer

    init(tls: UnsafeMutableRawPointer) { ssl = OpaquePointer(tls) }

    /// True if HTTP/2 was negotiated (RFC 7301, RFC 9113 §3.2).
    var speaksHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        return UnsafeBufferPointer(start: name, count: name == nil ? 0 : Int(clamping: length)).elementsEqual("h2".utf8)
    }

    /// True if OpenSSL has bytes of the connection that have not been read.
    var hasUnreadBytes: Bool { SSL_has_pending(ssl) == 1 }
}
