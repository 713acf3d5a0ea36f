import COpenSSL
import XferModel

/// A parsed X.509 certificate.
///
/// `@unchecked Sendable`: OpenSSL counts references atomically, and an `X509` is never changed after it is parsed
/// (X509_up_ref(3)); OpenSSL's own locks guard its lazy caches.
final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of the caller's reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Adds a reference to a certificate that has another owner.
    init(sharing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.pointer = pointer
    }

    /// Parses DER that contains one certificate and nothing else.
    convenience init?(der: [UInt8]) {
        let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var next = buffer.baseAddress
            guard let made = d2i_X509(nil, &next, buffer.count) else { return nil }
            guard next == buffer.baseAddress?.advanced(by: buffer.count) else {
                X509_free(made)
                return nil
            }
            return made
        }
        guard let parsed else {
            ERR_clear_error()
            return nil
        }
        self.init(owning: parsed)
    }

    deinit { X509_free(pointer) }

    var der: [UInt8] { Self.der(of: pointer) }

    /// The SHA-256 digest of the SubjectPublicKeyInfo.
    var key: KeyPin { Self.key(of: pointer) }

    var pin: CertificatePin { CertificatePin(der: der, key: key, notAfter: notAfter) }

    /// The beginning of validity. If a date cannot be read, the certificate is valid at no time.
    var notBefore: Timestamp { Self.time(X509_get0_notBefore(pointer)) ?? Timestamp(rawValue: .max) }
    var notAfter: Timestamp { Self.time(X509_get0_notAfter(pointer)) ?? Timestamp(rawValue: .min) }

    /// RFC 2253 text without control characters, at most 200 bytes.
    var subject: String { Self.text(of: X509_get_subject_name(pointer)) }
    var issuer: String { Self.text(of: X509_get_issuer_name(pointer)) }

    var shown: ShownCertificate { ShownCertificate(subject: subject, key: key) }

    /// True if the certificate is valid for the host, by its subjectAltName alone (RFC 9525 §6). A wildcard matches one
    /// whole label.
    func names(_ host: ServerName) -> Bool { Self.names(pointer, host) }

    // MARK: On borrowed pointers

    static func der(of certificate: OpaquePointer) -> [UInt8] { encoded { i2d_X509(certificate, $0) } }

    static func key(of certificate: OpaquePointer) -> KeyPin {
        let info = encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = EVP_Digest(info, info.count, &digest, nil, EVP_sha256(), nil) == 1
        guard isDone, let pin = KeyPin(digest: digest) else {
            preconditionFailure("libcrypto does not offer SHA-256")
        }
        return pin
    }

    static func names(_ certificate: OpaquePointer, _ host: ServerName) -> Bool {
        switch host {
        case .domain(let name):
            let count = name.utf8.count
            return count > 0 && X509_check_host(certificate, name, count, xfer_x509_name_check_flags, nil) == 1
        case .address(let address):
            return X509_check_ip(certificate, address.bytes, address.bytes.count, 0) == 1
        }
    }

    private static func encoded(
        _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> [UInt8] {
        let count = Int(clamping: max(0, write(nil)))
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var next = buffer.baseAddress
            filled = count > 0 ? Int(clamping: max(0, write(&next))) : 0
        }
    }

    static func time(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        let date = CivilDate(
            year: Int64(clamping: parts.tm_year) + 1900, month: Int64(clamping: parts.tm_mon) + 1,
            day: Int64(clamping: parts.tm_mday))
        let seconds =
            Int64(clamping: parts.tm_hour) * 3600 + Int64(clamping: parts.tm_min) * 60 + Int64(clamping: parts.tm_sec)
        return Timestamp(seconds: date.daysSinceEpoch * 86_400 + seconds)
    }

    private static func text(of name: OpaquePointer?) -> String {
        guard let name, let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        X509_NAME_print_ex(bio, name, 0, xfer_name_flags_rfc2253)
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = Int(clamping: max(0, BIO_read(bio, &bytes, Int32(clamping: bytes.count))))
        // RFC 2253 escapes control characters and all non-ASCII ones, so the text can be cut anywhere.
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

extension Certificate {
    /// DNS names and IP addresses of the subjectAltName; names that are not ASCII are left out.
    var alternativeNames: [String] {
        guard let all = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil) else { return [] }
        let stack = OpaquePointer(all)
        defer { GENERAL_NAMES_free(stack) }
        return (0..<OPENSSL_sk_num(stack)).compactMap { index in
            guard let value = OPENSSL_sk_value(stack, index) else { return nil }
            var isAddress: Int32 = 0
            let name = value.assumingMemoryBound(to: GENERAL_NAME.self)
            guard let octets = xfer_general_name_octets(name, &isAddress) else { return nil }
            let bytes = [UInt8](
                UnsafeBufferPointer(
                    start: ASN1_STRING_get0_data(octets), count: Int(clamping: max(0, ASN1_STRING_length(octets)))))
            if isAddress != 0 { return IPAddress(bytes: bytes)?.description }
            return bytes.allSatisfy { (0x21...0x7e).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }

    /// The certificate as PEM text.
    var pem: String {
        let text = Base64.encode(der)
        var lines = ["-----BEGIN CERTIFICATE-----"]
        var rest = text[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }
}
