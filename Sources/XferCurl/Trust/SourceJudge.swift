public import XferCore
public import XferModel

/// Judges servers that sent kept bytes: servers that were trusted then may not be trusted now.
public enum SourceJudge {
    /// The reason why the policies refuse the server of this evidence; nil if they accept it.
    ///
    /// Reads the authorities, so it blocks for some milliseconds.
    ///
    /// - Parameter isStapleChecked: true if policies with the same requirement for a stapled OCSP response judged the
    ///   server in its handshake.
    public static func refusal(
        of source: SourceEvidence, by policies: AppliedPolicies, authoritiesFile: String?, isStapleChecked: Bool
    ) -> String? {
        // Where http is refused no policies apply to it, see `PolicyResolver.resolve`.
        if source.origin.scheme == .http { return nil }
        let certificates = source.chain.compactMap { Certificate(der: $0) }
        guard !certificates.isEmpty, certificates.count == source.chain.count else {
            return "the certificates of \(source.origin.host) are no longer known"
        }
        guard let version = source.tls, version >= policies.minimumTLS else {
            return "\(source.origin.host) was connected with a version below TLS \(policies.minimumTLS.rawValue)"
        }
        if policies.enforcesStapledOCSP, !isStapleChecked {
            return "\(source.origin.host) was not asked for a stapled OCSP response"
        }
        let evaluator = ServerTrustEvaluator(anchors: TrustAnchors(file: authoritiesFile))
        let verdict = evaluator.evaluate(certificates, for: TrustTarget(source.origin, policies: policies))
        return verdict.failure?.description
    }
}
