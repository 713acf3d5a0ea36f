import COpenSSL
import XferCore
import XferModel

/// Checks the OCSP response that a server stapled to its handshake (RFC 6066 §8, RFC 6960).
enum StapleCheck {
    /// The largest error of the responder's clock that is accepted, in seconds.
    private static let skew = 300
    /// The greatest age of a response that does not announce a next update, in seconds.
    private static let oldestWithoutNext = 7 * 86_400

    /// Returns what the stapled response states about the leaf.
    ///
    /// - Parameter anchors: the trust anchors for the chain of the response's signer.
    static func status(
        of staple: [UInt8]?, _ presented: PresentedChain, anchors: AnchorStore
    ) -> StapledStatus {
        guard let staple, !staple.isEmpty else { return .missing }
        defer { ERR_clear_error() }
        var status = StapledStatus.unusable("no chain to an authority could be built")
        _ = ChainVerifier.verify(presented, anchors: anchors) { chain in
            guard let issuer = chain.dropFirst().first else {
                status = .unusable("the certificate's issuer is not known")
                return
            }
            // The issuer signs without enclosing its certificate, and a server does not send an anchor.
            let signers = OPENSSL_sk_dup(presented.others)
            defer { OPENSSL_sk_free(signers) }
            OPENSSL_sk_push(signers, UnsafeRawPointer(issuer))
            status = read(staple, leaf: presented.leaf, issuer: issuer, signers, anchors)
        }
        return status
    }

    /// Reads the stapled response.
    ///
    /// - Parameter signers: certificates, in addition to those in the response, among which the signer may be. That
    ///   does not make them trusted.
    private static func read(
        _ staple: [UInt8], leaf: OpaquePointer, issuer: OpaquePointer, _ signers: OpaquePointer?,
        _ anchors: AnchorStore
    ) -> StapledStatus {
        let parsed = staple.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_OCSP_RESPONSE(nil, &next, bytes.count)
        }
        guard let response = parsed else { return .unusable("it cannot be parsed") }
        defer { OCSP_RESPONSE_free(response) }
        let code = OCSP_response_status(response)
        guard code == OCSP_RESPONSE_STATUS_SUCCESSFUL, let basic = OCSP_response_get1_basic(response) else {
            return .unusable("the responder answered with error \(code)")
        }
        defer { OCSP_BASICRESP_free(basic) }
        // An intermediate may be an anchor, as in `ChainVerifier`.
        guard OCSP_basic_verify(basic, signers, anchors.pointer, UInt(OCSP_PARTIAL_CHAIN)) == 1 else {
            return .unusable("its signature is not valid: \(OpenSSLError.removeText() ?? "no reason given")")
        }
        guard let single = single(of: basic, leaf: leaf, issuer: issuer) else {
            return .unusable("it is about another certificate")
        }
        return status(of: single)
    }

    /// The entry of the response for the leaf; nil if there is none.
    private static func single(
        of basic: OpaquePointer, leaf: OpaquePointer, issuer: OpaquePointer
    ) -> OpaquePointer? {
        for index in 0..<max(0, OCSP_resp_count(basic)) {
            guard let single = OCSP_resp_get0(basic, index), let id = OCSP_SINGLERESP_get0_id(single) else { continue }
            var algorithm: OpaquePointer?
            guard OCSP_id_get0_info(nil, &algorithm, nil, nil, id) == 1,
                let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm))),
                let wanted = OCSP_cert_to_id(digest, leaf, issuer)
            else { continue }
            defer { OCSP_CERTID_free(wanted) }
            if OCSP_id_cmp(wanted, id) == 0 { return single }
        }
        return nil
    }

    private static func status(of single: OpaquePointer) -> StapledStatus {
        var reason: Int32 = -1
        var revoked, updated, next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let code = OCSP_single_get0_status(single, &reason, &revoked, &updated, &next)
        let isCurrent =
            OCSP_check_validity(updated, next, skew, next == nil ? oldestWithoutNext : -1) == 1
        switch code {
        // A revocation is final, however old the response is.
        case V_OCSP_CERTSTATUS_REVOKED: return .revoked(at: Certificate.time(revoked))
        case V_OCSP_CERTSTATUS_GOOD where isCurrent: return .good(until: Certificate.time(next))
        case V_OCSP_CERTSTATUS_GOOD:
            let end = Certificate.time(next).map { ", it was valid until \($0)" } ?? ""
            return .unusable("it is not valid now\(end)")
        default: return .unusable("the responder does not know the certificate")
        }
    }
}
