import COpenSSL
import XferModel

extension TestCA {
    /// The status of a certificate in a response.
    public enum Revocation: Int32, Sendable, CaseIterable {
        case good = 0
        case revoked = 1
        case unknown = 2
    }

    /// The DER of an OCSP response (RFC 6960) about a leaf of this authority.
    ///
    /// - Parameters:
    ///   - from: when it begins to be valid, relative to now.
    ///   - until: when it ends; nil leaves that out.
    ///   - signer: another certificate than the authority's own.
    ///   - enclosesSigner: true if the response has the signer's certificate in it.
    public func ocspResponse(
        for leaf: TestCertificate, _ status: Revocation = .good, from: Duration = .seconds(-60),
        until: Duration? = .seconds(3600), signer: TestCertificate? = nil,
        enclosesSigner: Bool = true
    ) throws -> [UInt8] {
        let signer = signer ?? certificate
        guard let basic = OCSP_BASICRESP_new(), let subject = Self.parse(leaf.der),
            let issuer = Self.parse(certificate.der), let signing = Self.parse(signer.der)
        else { throw CertificateFailure("OCSP response") }
        defer {
            OCSP_BASICRESP_free(basic)
            for parsed in [subject, issuer, signing] { X509_free(parsed) }
        }
        let id = OCSP_cert_to_id(EVP_sha1(), subject, issuer)
        defer { OCSP_CERTID_free(id) }
        func time(_ offset: Duration) -> UnsafeMutablePointer<ASN1_TIME>? {
            X509_gmtime_adj(nil, Int(offset.inSeconds))
        }
        func generalized(_ offset: Duration?) -> UnsafeMutablePointer<ASN1_GENERALIZEDTIME>? {
            guard let offset, let made = time(offset) else { return nil }
            defer { ASN1_STRING_free(made) }
            return ASN1_TIME_to_generalizedtime(made, nil)
        }
        let (begin, end, revoked) = (generalized(from), generalized(until), generalized(.seconds(-30)))
        defer { for made in [begin, end, revoked] { ASN1_STRING_free(made) } }
        let key = try CertificateKey(pem: signer.privateKey)
        guard
            OCSP_basic_add1_status(basic, id, status.rawValue, 0, status == .revoked ? revoked : nil, begin, end)
                != nil,
            OCSP_basic_sign(
                basic, signing, key.pointer, EVP_sha256(), nil, enclosesSigner ? 0 : UInt(OCSP_NOCERTS)) == 1,
            let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        else { throw CertificateFailure("OCSP response") }
        defer { OCSP_RESPONSE_free(response) }
        let count = Int(i2d_OCSP_RESPONSE(response, nil))
        return [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            var next = buffer.baseAddress
            filled = max(0, Int(i2d_OCSP_RESPONSE(response, &next)))
        }
    }

    private static func parse(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_X509(nil, &next, bytes.count)
        }
    }
}

/// The response that a server staples to its handshakes.
final class Staple: Sendable {
    let response: [UInt8]

    init(_ response: [UInt8]) { self.response = response }

    /// Installs the callback. Keep this object as long as the context exists.
    func install(on context: OpaquePointer) throws {
        let argument = Unmanaged.passUnretained(self).toOpaque()
        guard xfer_ssl_ctx_request_status(context, staple, argument) == 1 else { throw CertificateFailure("staple") }
    }
}

/// The callback for SSL_CTX_set_tlsext_status_cb(3) of a server: 0 sends the response that was set.
private nonisolated func staple(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let ssl, let argument else { return SSL_TLSEXT_ERR_NOACK }
    let response = Unmanaged<Staple>.fromOpaque(argument).takeUnretainedValue().response
    return xfer_ssl_set_status_response(ssl, response, response.count) == 1 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
}
