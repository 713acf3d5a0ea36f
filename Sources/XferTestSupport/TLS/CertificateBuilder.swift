import COpenSSL
import XferModel

/// OpenSSL refused something a test certificate needs.
struct CertificateFailure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) {
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(ERR_get_error(), &text, text.count)
        description = "\(what): " + text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}

/// A private key, freed with the object.
final class CertificateKey {
    let pointer: OpaquePointer

    init(_ kind: TestKey) throws {
        let type =
            switch kind {
            case .ec: EVP_PKEY_EC
            case .rsa: EVP_PKEY_RSA
            }
        guard let context = EVP_PKEY_CTX_new_id(type, nil) else { throw CertificateFailure("key context") }
        defer { EVP_PKEY_CTX_free(context) }
        var isReady = EVP_PKEY_keygen_init(context) == 1
        switch kind {
        case .ec: isReady = isReady && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1
        case .rsa(let bits): isReady = isReady && EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1
        }
        var key: OpaquePointer?
        guard isReady, EVP_PKEY_keygen(context, &key) == 1, let key else { throw CertificateFailure("key") }
        pointer = key
    }

    init(pem: String) throws {
        guard let key = withMemoryBIO(pem, { PEM_read_bio_PrivateKey($0, nil, nil, nil) }) else {
            throw CertificateFailure("private key")
        }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }

    var pem: String {
        get throws { try text { PEM_write_bio_PrivateKey($0, self.pointer, nil, nil, 0, nil, nil) == 1 } }
    }
}

/// Puts an X.509 certificate together and signs it.
struct CertificateBuilder {
    private let commonName: String
    private let key: CertificateKey
    private var notBefore = Duration.seconds(-3600)
    private var notAfter = Duration.seconds(86_400)
    private var extensions: [(nid: Int32, value: String)] = []

    init(commonName: String, key: CertificateKey) {
        self.commonName = commonName
        self.key = key
    }

    init(_ leaf: TestCA.Leaf) throws {
        self.init(
            commonName: leaf.commonName,
            key: try leaf.privateKey.map { try CertificateKey(pem: $0) } ?? CertificateKey(leaf.key))
        notBefore = leaf.notBefore
        notAfter = leaf.notAfter
        extensions = [(NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature")]
        let alternatives = leaf.names.map { "DNS:\($0)" } + leaf.addresses.map { "IP:\($0)" }
        if !alternatives.isEmpty { extensions.append((NID_subject_alt_name, alternatives.joined(separator: ","))) }
        if let usage = leaf.usage { extensions.append((NID_ext_key_usage, usage)) }
    }

    /// The same, allowed to sign others.
    func authority() -> CertificateBuilder {
        var copy = self
        copy.extensions = [
            (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
        ]
        return copy
    }

    /// The certificate signed by `issuer`, or by itself.
    func signed(by issuer: TestCertificate?) throws -> TestCertificate {
        guard let certificate = X509_new() else { throw CertificateFailure("certificate") }
        defer { X509_free(certificate) }
        let issuerKey = try issuer.map { try CertificateKey(pem: $0.privateKey) } ?? key
        let issuerCertificate = issuer.flatMap { issuer in
            withMemoryBIO(issuer.certificate) { PEM_read_bio_X509($0, nil, nil, nil) }
        }
        defer { X509_free(issuerCertificate) }

        X509_set_version(certificate, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64.random(in: 1...(.max >> 1)))
        X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", 0x1001, commonName, -1, -1, 0)
        X509_set_issuer_name(certificate, X509_get_subject_name(issuerCertificate ?? certificate))
        X509_gmtime_adj(X509_getm_notBefore(certificate), Int(notBefore.inSeconds))
        X509_gmtime_adj(X509_getm_notAfter(certificate), Int(notAfter.inSeconds))
        X509_set_pubkey(certificate, key.pointer)
        let identifiers = [(NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid:always")]
        // The identifiers are computed from these two certificates.
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuerCertificate ?? certificate, certificate, nil, nil, 0)
        for (nid, value) in identifiers + extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, nid, value) else { throw CertificateFailure(value) }
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        guard X509_sign(certificate, issuerKey.pointer, EVP_sha256()) > 0 else { throw CertificateFailure("signature") }
        return TestCertificate(
            certificate: try text { PEM_write_bio_X509($0, certificate) == 1 }, privateKey: try key.pem,
            der: encoded { i2d_X509(certificate, $0) },
            keyPin: "sha256/" + Base64.encode(Digest.of(encoded { i2d_PUBKEY(key.pointer, $0) }).bytes))
    }
}

/// The output of an `i2d` function.
private func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    let count = Int(write(nil))
    return [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
        var next = buffer.baseAddress
        filled = max(0, Int(write(&next)))
    }
}

private func withMemoryBIO<Result>(_ text: String, _ body: (OpaquePointer?) -> Result) -> Result {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBytes { buffer in
        let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
        defer { BIO_free(bio) }
        return body(bio)
    }
}

/// The output of a PEM function.
private func text(_ write: (OpaquePointer?) -> Bool) throws -> String {
    let bio = BIO_new(BIO_s_mem())
    defer { BIO_free(bio) }
    guard write(bio) else { throw CertificateFailure("PEM") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = BIO_read(bio, &chunk, Int32(chunk.count)), count > 0 {
        bytes.append(contentsOf: chunk[..<Int(count)])
    }
    return String(decoding: bytes, as: UTF8.self)
}
