import COpenSSL
public import XferModel

/// The certificates that a connection's server sent in its handshake; the connection may have been open for a long
/// time.
public struct ConnectedServer: Sendable {
    /// The certificates in DER, leaf first, at most `TrustFailure.maxChain` of them.
    public let chain: [[UInt8]]
    public let version: TLSVersion?

    /// - Parameter tls: an `SSL` whose handshake has ended.
    public init(tls: UnsafeMutableRawPointer) {
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
public struct TLSState {
    private let ssl: OpaquePointer

    public init(tls: UnsafeMutableRawPointer) { ssl = OpaquePointer(tls) }

    /// True if HTTP/2 was negotiated (RFC 7301, RFC 9113 §3.2).
    public var speaksHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        return UnsafeBufferPointer(start: name, count: name == nil ? 0 : Int(clamping: length)).elementsEqual("h2".utf8)
    }

    /// True if OpenSSL has bytes of the connection that have not been read.
    public var hasUnreadBytes: Bool { SSL_has_pending(ssl) == 1 }
}
