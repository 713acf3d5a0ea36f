/// A server that sent kept bytes, recorded to judge it again when policies have changed since.
///
/// A redirect's server counts too: it decided where the bytes came from.
public struct SourceEvidence: Hashable, Sendable {
    public var origin: Origin
    /// DER of the server's certificates, leaf first. Empty over `http`; an empty chain over `https` is not trusted.
    public var chain: [[UInt8]]
    /// Nil over `http`.
    public var tls: TLSVersion?
    /// The policies that accepted it, as `AppliedPolicies.judgement` writes them.
    public var judgement: String

    public init(origin: Origin, chain: [[UInt8]], tls: TLSVersion?, judgement: String) {
        self.origin = origin
        self.chain = chain
        self.tls = tls
        self.judgement = judgement
    }

    /// Most of them that are kept for one transfer.
    public static let maxCount = 16
}
