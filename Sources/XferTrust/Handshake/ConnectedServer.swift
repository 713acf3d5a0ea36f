import COpenSSL
public import XferModel

/// The certificates that a connection's server sent in its handshake, however long ago that was.
public struct ConnectedServer: Sendable {
    /// DER, leaf first, at most `TrustFailure.maxChain` of them.
    public let chain: [[UInt8]]
    public let version: TLSVersion?

    /// - Parameter tls: an `SSL` whose handshake is over.
    public init(tls: UnsafeMutableRawPointer) {
        let ssl = OpaquePointer(tls)
        let stack = SSL_get_peer_cert_chain(ssl)
        let count = min(TrustFailure.maxChain, Int(clamping: max(0, stack.map { OPENSSL_sk_num($0) } ?? 0)))
        chain = (0..<count).compactMap { index in
            OPENSSL_sk_value(stack, Int32(clamping: index)).map { Certificate.der(of: OpaquePointer($0)) }
        }
        version =
            switch SSL_version(ssl) {
            case TLS1_2_VERSION: .tls12
            case TLS1_3_VERSION: .tls13
            default: nil
            }
    }
}
