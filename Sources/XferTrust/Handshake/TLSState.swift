import COpenSSL

/// State of a connection's `SSL` after its handshake. Nothing is read from the network.
public struct TLSState {
    private let ssl: OpaquePointer

    public init(tls: UnsafeMutableRawPointer) { ssl = OpaquePointer(tls) }

    /// Whether HTTP/2 was negotiated (RFC 7301, RFC 9113 §3.2).
    public var speaksHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        return UnsafeBufferPointer(start: name, count: name == nil ? 0 : Int(clamping: length)).elementsEqual("h2".utf8)
    }

    /// Whether OpenSSL holds bytes of the connection that have not been read.
    public var hasUnreadBytes: Bool { SSL_has_pending(ssl) == 1 }
}
