public import XferModel

/// Facts about a server's certificates for one policy. A fact that was not checked counts against the server.
public struct TrustFacts: Hashable, Sendable {
    /// The result of building a valid chain: whether it succeeded, and the reason if not.
    public enum Chain: Hashable, Sendable {
        case valid
        case invalid(ChainFault)
        case unchecked
    }

    /// The result of comparing the leaf's names with the host.
    public enum HostName: Hashable, Sendable {
        case matches
        /// A mismatch, with its X509_V_ERR code.
        case mismatch(code: Int32)
        case unchecked
    }

    /// The verification of the chain to the system's anchors, without the host name.
    public var systemChain = Chain.unchecked
    /// The verification of the chain to the policy's pinned certificates as the only anchors.
    public var pinnedChain = Chain.unchecked
    public var hostName = HostName.unchecked
    /// True if the chain that is valid to the pins has a pinned certificate.
    public var chainHasPinnedCertificate = false
    /// True if the chain that is valid to the system's anchors has a pinned key.
    public var chainHasPinnedKey = false
    public var leafHasPinnedKey = false
    /// True if a certificate that the server sent has a pinned key, although the chain is not valid to the system's
    /// anchors; nil if that was not checked. It only explains a refusal.
    public var sentPinnedKey: Bool?
    /// The TLS version of the connection; nil outside a handshake.
    public var tls: TLSVersion?

    public init() {}
}

/// The reason why no valid chain could be built.
public struct ChainFault: Hashable, Sendable {
    /// The code X509_V_ERR_…, see X509_STORE_CTX_get_error(3).
    public var code: Int32
    /// OpenSSL's text.
    public var text: String
    /// The position of the certificate at fault in the chain; 0 is the leaf.
    public var depth: Int
    /// The chain does not end at a trust anchor, and no other fault was found.
    public var lacksAnchor: Bool

    public init(code: Int32, text: String, depth: Int, lacksAnchor: Bool) {
        self.code = code
        self.text = text
        self.depth = depth
        self.lacksAnchor = lacksAnchor
    }
}
