public import XferModel

/// The result of a handshake: the judgements of all policies that applied to it.
public struct TrustVerdict: Hashable, Sendable {
    /// Why the connection is refused, by the first policy that does; nil accepts.
    public var failure: TrustFailure?
    /// What `report_only` policies would have refused.
    public var violations: [TrustFailure]
    /// Policies that have expired and were replaced by the ordinary check.
    public var expired: [String]
    /// Policies that accepted a server that the ordinary check would refuse, or that checked nothing.
    public var lax: [String]

    public init(
        failure: TrustFailure? = nil, violations: [TrustFailure] = [], expired: [String] = [], lax: [String] = []
    ) {
        self.failure = failure
        self.violations = violations
        self.expired = expired
        self.lax = lax
    }

    /// Adds what was found later in the same handshake.
    public mutating func add(_ later: TrustVerdict) {
        failure = failure ?? later.failure
        violations += later.violations
        expired += later.expired
        lax += later.lax
    }

    public var isAccepted: Bool { failure == nil }

    /// Whether an operator has to be informed.
    public var isRemarkable: Bool { failure != nil || !violations.isEmpty || !expired.isEmpty || !lax.isEmpty }
}
