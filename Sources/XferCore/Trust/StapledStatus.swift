public import XferModel

/// The status of a certificate by the OCSP response that the server stapled.
public enum StapledStatus: Hashable, Sendable, CustomStringConvertible {
    /// The server sent none.
    case missing
    /// The response proves nothing.
    case unusable(String)
    case revoked(at: Timestamp?)
    /// Not revoked; the response is valid until that time.
    case good(until: Timestamp?)

    public var isGood: Bool { if case .good = self { true } else { false } }

    public var description: String {
        switch self {
        case .missing: "the server staples no OCSP response"
        case .unusable(let problem): "the stapled OCSP response cannot be used: \(problem)"
        case .revoked(let time): "the certificate was revoked" + (time.map { " at \($0)" } ?? "")
        case .good(let end):
            "the stapled OCSP response says that it is not revoked" + (end.map { ", valid until \($0)" } ?? "")
        }
    }
}

extension TrustDecision {
    /// Judges what a server stapled, once its chain was accepted.
    public static func judge(_ applied: AppliedPolicy, _ status: StapledStatus) -> TrustJudgement {
        guard applied.requiresStapledOCSP, !status.isGood else { return .accepted }
        let refusal = TrustRefusal(reason: .revocationUnknown, code: 0, problems: [status.description])
        return applied.isReportOnly ? .reported(refusal) : .refused(refusal)
    }
}
