/// Who sent bytes that are kept, so that they can be judged anew when policies have changed since.
///
/// A redirect's server counts too: it decided where the bytes came from.
public struct SourceEvidence: Hashable, Sendable {
    public var origin: Origin
    /// DER of the certificates the server showed, leaf first. Empty over `http`; over `https` that is nothing anybody
    /// could believe.
    public var chain: [[UInt8]]
    /// Nil over `http`.
    public var tls: TLSVersion?
    /// The policies that believed it, as `AppliedPolicies.judgement` writes them.
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
