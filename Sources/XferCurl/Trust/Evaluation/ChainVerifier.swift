import COpenSSL
import XferCore
import XferModel

/// The server's certificates, borrowed from OpenSSL during one judgement.
struct PresentedChain {
    let leaf: OpaquePointer
    /// `STACK_OF(X509)`, nil when the server sent only the leaf.
    let others: OpaquePointer?
    /// SSL_CTX_set_security_level(3): the weakest keys and signatures that are accepted.
    let securityLevel: Int32
    /// The version of the connection; nil outside a handshake.
    var tls: TLSVersion?

    /// The certificates, leaf first, at most `TrustFailure.maxChain`.
    var certificates: [Certificate] {
        var list = [Certificate(sharing: leaf)]
        for index in 0..<max(0, others.map { OPENSSL_sk_num($0) } ?? 0) where list.count < TrustFailure.maxChain {
            guard let next = OPENSSL_sk_value(others, index).map({ OpaquePointer($0) }) else { continue }
            // Servers send the leaf first, and OpenSSL includes it in `others`.
            if X509_cmp(next, leaf) != 0 { list.append(Certificate(sharing: next)) }
        }
        return list
    }
}

/// Builds and checks one chain with a fresh X509_STORE_CTX and given anchors.
enum ChainVerifier {
    /// Checks dates, signatures, key sizes, extensions, and that the leaf is for servers. It does not check the name.
    ///
    /// - Parameter onValid: receives the chain that OpenSSL built and validated, from leaf to anchor. The list that the
    ///   server sent may have other certificates, too.
    static func verify(
        _ presented: PresentedChain, anchors: AnchorStore, onValid: ([OpaquePointer]) -> Void
    ) -> TrustFacts.Chain {
        guard let context = X509_STORE_CTX_new() else { return .unchecked }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, anchors.pointer, presented.leaf, presented.others) == 1,
            // Purpose and trust: otherwise a client certificate would be accepted.
            X509_STORE_CTX_set_default(context, "ssl_server") == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { return .unchecked }
        // A new context does not have the connection's security level and would accept RSA-1024.
        X509_VERIFY_PARAM_set_auth_level(parameters, presented.securityLevel)
        // A leaf or an intermediate may be an anchor, as in libcurl's own check.
        X509_VERIFY_PARAM_set_flags(parameters, xfer_x509_flag_partial_chain)
        defer { ERR_clear_error() }
        guard X509_verify_cert(context) == 1, X509_STORE_CTX_get_error(context) == X509_V_OK else {
            return .invalid(fault(context))
        }
        let chain = X509_STORE_CTX_get0_chain(context)
        onValid(
            (0..<max(0, OPENSSL_sk_num(chain))).compactMap { OPENSSL_sk_value(chain, $0).map { OpaquePointer($0) } })
        return .valid
    }

    private static func fault(_ context: OpaquePointer) -> ChainFault {
        let code = X509_STORE_CTX_get_error(context)
        let known = code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code
        return ChainFault(
            code: known, text: OpenSSLError.text(ofVerification: Int(clamping: known)),
            depth: Int(clamping: X509_STORE_CTX_get_error_depth(context)), lacksAnchor: anchorless.contains(known))
    }

    /// The errors of a chain that does not end at a trust anchor. `X509_V_ERR_CERT_SIGNATURE_FAILURE` means that a
    /// certificate has an anchor's name but not its key.
    private static let anchorless: Set<Int32> = [
        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
        X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
        X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_SIGNATURE_FAILURE,
    ]
}
