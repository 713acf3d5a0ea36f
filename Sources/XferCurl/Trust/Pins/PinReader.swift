import COpenSSL
import XferModel

/// Reads pins from text (`sha256/…` or PEM) and from files (PEM or DER).
enum PinReader {
    /// The largest input, in bytes.
    static let maxBytes = 1 << 20

    /// Reads a pin in the form of a configuration file or a call: `sha256/BASE64` or one or more PEM certificates.
    static func pins(inText text: String) throws(PinError) -> [Pin] {
        guard text.utf8.count <= maxBytes else { throw .tooLarge }
        let trimmed = text.drop { $0.isWhitespace }
        if trimmed.hasPrefix("-----BEGIN") {
            return try certificates(in: Array(text.utf8)).map { .certificate($0.pin) }
        }
        do throws(KeyPinError) {
            return [.key(try KeyPin(text))]
        } catch {
            throw .badKeyPin(error)
        }
    }

    /// Reads a pin file's contents: PEM or DER.
    static func pins(inFile bytes: [UInt8]) throws(PinError) -> [Pin] {
        try certificates(in: bytes).map { .certificate($0.pin) }
    }

    /// All certificates, in order.
    ///
    /// - Throws: if there is none, if one cannot be parsed, or if PEM text has a block with another label.
    static func certificates(in bytes: [UInt8]) throws(PinError) -> [Certificate] {
        guard bytes.count <= maxBytes else { throw .tooLarge }
        guard isPEM(bytes) else {
            guard let certificate = Certificate(der: bytes) else { throw isKey(bytes) ? .privateKey : .noCertificate }
            return [certificate]
        }
        // Checked before all other faults: a block of parameters often precedes a private key and would be reported
        // instead.
        if String(decoding: bytes, as: UTF8.self).contains("PRIVATE KEY-----") { throw .privateKey }
        var found: [Certificate] = []
        try forEachBlock(of: bytes) { (label, der) throws(PinError) in
            guard ["CERTIFICATE", "X509 CERTIFICATE"].contains(label) else { throw .otherBlock(label) }
            guard let certificate = Certificate(der: der) else { throw .badCertificate(index: found.count) }
            found.append(certificate)
        }
        guard !found.isEmpty else { throw .noCertificate }
        return found
    }

    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        // A certificate in DER is a SEQUENCE of more than 127 bytes, whose length has the long form.
        if bytes.count > 1, bytes[0] == 0x30, bytes[1] & 0x80 != 0 { return false }
        return String(decoding: bytes, as: UTF8.self).contains("-----BEGIN ")
    }

    private static func isKey(_ bytes: [UInt8]) -> Bool {
        let key = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var next = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &next, buffer.count)
        }
        ERR_clear_error()
        EVP_PKEY_free(key)
        return key != nil
    }

    /// Visits all PEM blocks (RFC 7468). `PEM_read_bio_X509` would skip blocks with other labels, such as keys. Text
    /// between blocks is ignored.
    private static func forEachBlock(
        of bytes: [UInt8], _ body: (String, [UInt8]) throws(PinError) -> Void
    ) throws(PinError) {
        let bio = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
            let bio = BIO_new(BIO_s_mem())
            BIO_write(bio, buffer.baseAddress, Int32(buffer.count))
            return bio
        }
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        while true {
            var name: UnsafeMutablePointer<CChar>?
            var header: UnsafeMutablePointer<CChar>?
            var data: UnsafeMutablePointer<UInt8>?
            var count = 0
            ERR_clear_error()
            guard PEM_read_bio(bio, &name, &header, &data, &count) == 1 else {
                if xfer_pem_is_at_end(ERR_peek_last_error()) != 0 { return }
                throw .badPEM(OpenSSLError.removeText() ?? "no reason given")
            }
            defer {
                CRYPTO_free(name, "", 0)
                CRYPTO_free(header, "", 0)
                CRYPTO_clear_free(data, count, "", 0)
            }
            let label = name.map { String(cString: $0) } ?? ""
            try body(label, Array(UnsafeBufferPointer(start: data, count: max(0, count))))
        }
    }
}

/// The reason why an input is not a pin. It never contains the input's bytes, which may be a secret, except the label
/// of a block.
enum PinError: Error, Hashable, Sendable, CustomStringConvertible {
    case badKeyPin(KeyPinError)
    case noCertificate
    case privateKey
    case otherBlock(String)
    case badCertificate(index: Int)
    case badPEM(String)
    case tooLarge

    var description: String {
        switch self {
        case .badKeyPin(let error): "not a pin: \(error)"
        case .noCertificate: "no certificate found, expected PEM or DER"
        case .privateKey: "this is a private key, which must stay secret: a pin is a certificate or sha256/…"
        case .otherBlock(let label): "found a PEM block \"\(label.prefix(64))\", expected CERTIFICATE only"
        case .badCertificate(let index): "certificate \(index + 1) cannot be parsed"
        case .badPEM(let detail): "the PEM text is malformed: \(detail)"
        case .tooLarge: "larger than \(PinReader.maxBytes) bytes"
        }
    }
}
