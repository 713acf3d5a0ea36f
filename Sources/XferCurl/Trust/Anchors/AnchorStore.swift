import COpenSSL

/// A set of certificates that chains may end at.
///
/// `@unchecked Sendable`: filled before it is shared, only read afterwards; lookups lock inside (X509_STORE_new(3)).
final class AnchorStore: @unchecked Sendable {
    let pointer: OpaquePointer

    private init() {
        guard let store = X509_STORE_new() else { preconditionFailure("out of memory") }
        pointer = store
    }

    /// Creates a store that contains only the pinned certificates.
    convenience init(_ certificates: [Certificate]) {
        self.init()
        for certificate in certificates { X509_STORE_add_cert(pointer, certificate.pointer) }
        // Some versions report a repeated certificate as an error; it is harmless.
        ERR_clear_error()
    }

    /// Every certificate of a PEM bundle; throws if one cannot be parsed.
    convenience init(file: String) throws(TrustAnchorsError) {
        self.init()
        ERR_clear_error()
        guard X509_STORE_load_file(pointer, file) == 1 else {
            throw .unreadable(file: file, detail: OpenSSLError.removeText() ?? "it contains no certificates")
        }
        ERR_clear_error()
    }

    deinit { X509_STORE_free(pointer) }
}

/// OpenSSL's error queue of the calling thread (ERR_get_error(3)).
enum OpenSSLError {
    /// The oldest reason, nil without one; empties the queue.
    static func removeText() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        return ERR_reason_error_string(code).map { String(cString: $0) } ?? "OpenSSL error \(code)"
    }

    /// Returns OpenSSL's text for an X509_V_ERR code.
    static func text(ofVerification code: Int) -> String { String(cString: X509_verify_cert_error_string(code)) }
}
