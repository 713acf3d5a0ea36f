public import XferModel

/// A TLS handshake that failed for a reason that lasts: the same handshake fails again until the server or the task
/// is changed.
public struct TLSRefusal: Hashable, Sendable {
    /// The known facts about the handshake besides OpenSSL's error.
    public struct Circumstances: Hashable, Sendable {
        /// The lowest version that was offered.
        public var minimumTLS: TLSVersion
        /// True if the server requested a client certificate.
        public var wasCertificateRequested: Bool
        /// True if there was a client certificate to show.
        public var hasCertificate: Bool

        public init(
            minimumTLS: TLSVersion = .tls12, wasCertificateRequested: Bool = false, hasCertificate: Bool = false
        ) {
            self.minimumTLS = minimumTLS
            self.wasCertificateRequested = wasCertificateRequested
            self.hasCertificate = hasCertificate
        }
    }

    public let cause: FailureCause
    /// Follows the server's name.
    public let problem: String

    /// Reads the refusal from libcurl's text of OpenSSL's error, such as `error:0A00042E:SSL routines::tlsv1 alert
    /// protocol version`.
    ///
    /// Returns nil if the text has no such error, or an error that may not occur the next time: alerts about damaged or
    /// unexpected messages, internal errors, and connections that were closed.
    public init?(_ detail: String, _ circumstances: Circumstances) {
        guard let reason = Self.reason(in: detail),
            let cause = reason > Self.alertOffset
                ? Self.cause(ofAlert: reason - Self.alertOffset, circumstances) : Self.cause(ofError: reason)
        else { return nil }
        self.cause = cause
        let text = detail.firstRange(of: "SSL routines::").map { detail[$0.upperBound...].prefix { $0 != "," } } ?? ""
        problem = "\(Self.sentence(cause, circumstances)) (TLS: \(text))"
    }

    private static func sentence(_ cause: FailureCause, _ circumstances: Circumstances) -> String {
        switch cause {
        case .tlsVersion:
            "has no TLS version in common with xferd, which offers \(circumstances.minimumTLS.rawValue) and later"
        case .clientCertificateRequired: "requires a client certificate, and none was given"
        case .clientCertificateRefused: "refuses the client certificate"
        case .unknownServerName: "has no site of that name"
        case .notTLS: "does not answer with TLS on this port"
        default: "has no TLS cipher, group or signature in common with xferd"
        }
    }

    /// SSL_AD_REASON_OFFSET (openssl/ssl.h): the reasons of received alerts begin here.
    private static let alertOffset: UInt32 = 1000

    /// The reason of the first error of OpenSSL's TLS library (ERR_GET_LIB, ERR_GET_REASON; openssl/err.h).
    private static func reason(in text: String) -> UInt32? {
        var rest = text[...]
        while let found = rest.firstRange(of: "error:") {
            rest = rest[found.upperBound...]
            let digits = rest.prefix(8)
            guard digits.utf8.count == 8, let code = UInt32(digits, radix: 16) else { continue }
            // ERR_LIB_SSL.
            if code >> 23 & 0xFF == 20 { return code & 0x7F_FFFF }
        }
        return nil
    }

    /// Returns the cause for the number of an alert (RFC 8446 §6.2); nil if the alert shows none.
    private static func cause(ofAlert alert: UInt32, _ circumstances: Circumstances) -> FailureCause? {
        switch alert {
        // bad_certificate, unsupported_certificate, certificate_revoked, certificate_expired, certificate_unknown,
        // unknown_ca, access_denied, certificate_required.
        case 41...46, 48, 49, 116:
            return circumstances.hasCertificate ? .clientCertificateRefused : .clientCertificateRequired
        // handshake_failure: a server asks for a certificate after the parameters are settled.
        case 40:
            guard circumstances.wasCertificateRequested else { return .tlsParameters }
            return circumstances.hasCertificate ? .clientCertificateRefused : .clientCertificateRequired
        // protocol_version.
        case 70: return .tlsVersion
        // unrecognized_name.
        case 112: return .unknownServerName
        // illegal_parameter, insufficient_security, inappropriate_fallback, missing_extension, unsupported_extension,
        // bad_certificate_status_response, no_application_protocol.
        case 47, 71, 86, 109, 110, 113, 120: return .tlsParameters
        // unexpected_message, bad_record_mac, record_overflow, decode_error, decrypt_error, internal_error,
        // user_canceled: may be another time.
        default: return nil
        }
    }

    /// Errors that the client itself detects (openssl/sslerr.h).
    private static func cause(ofError reason: UInt32) -> FailureCause? {
        switch reason {
        // UNSUPPORTED_PROTOCOL, UNSUPPORTED_SSL_VERSION, WRONG_SSL_VERSION, NO_PROTOCOLS_AVAILABLE.
        case 258, 259, 266, 191: .tlsVersion
        // WRONG_VERSION_NUMBER: the first record is none of TLS.
        case 267: .notTLS
        // UNSAFE_LEGACY_RENEGOTIATION_DISABLED, LEGACY_SIGALG_DISALLOWED_OR_UNSUPPORTED, DH_KEY_TOO_SMALL,
        // NO_CIPHERS_AVAILABLE, NO_SUITABLE_SIGNATURE_ALGORITHM, WRONG_CIPHER_RETURNED, WRONG_CURVE,
        // WRONG_SIGNATURE_TYPE, BAD_ECPOINT.
        case 338, 333, 394, 181, 118, 261, 378, 370, 306: .tlsParameters
        default: nil
        }
    }
}

/// Recognises the page with which a TLS server answers an unencrypted request: nginx, Apache httpd, Go's net/http
/// (Caddy, Traefik), Tomcat.
public enum TLSPortComplaint {
    public static func isIn(_ body: some Sequence<UInt8>) -> Bool {
        let text = String(decoding: body.map { $0 }, as: UTF8.self).lowercased()
        return [
            "plain http request was sent to https port", "speaking plain http to an ssl-enabled server port",
            "sent an http request to an https server", "combination of host and port requires tls",
        ].contains(where: text.contains)
    }
}
