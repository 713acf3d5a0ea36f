import Testing
import XferCore
import XferModel

/// Which failed handshakes last (RFC 8446 §6.2), read from libcurl's texts.
@Suite struct TLSRefusalTests {
    private static func text(_ reason: UInt32, _ words: String = "some words") -> String {
        "OpenSSL/3.0.19: error:0A\(String(repeating: "0", count: 6 - String(reason, radix: 16).count))"
            + "\(String(reason, radix: 16, uppercase: true)):SSL routines::\(words), errno 0"
    }

    private static func cause(
        _ text: String, asked: Bool = false, has: Bool = false
    ) -> FailureCause? {
        TLSRefusal(text, TLSRefusal.Circumstances(wasCertificateRequested: asked, hasCertificate: has))?.cause
    }

    /// As OpenSSL 3.0 and libcurl 7.88 wrote them for servers that refuse in these ways.
    @Test(arguments: [
        ("OpenSSL/3.0.19: error:0A00042E:SSL routines::tlsv1 alert protocol version", FailureCause.tlsVersion),
        ("OpenSSL/3.0.19: error:0A00014D:SSL routines::legacy sigalg disallowed or unsupported", .tlsParameters),
        ("OpenSSL/3.0.19: error:0A000410:SSL routines::sslv3 alert handshake failure", .tlsParameters),
        (
            "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
            .clientCertificateRequired
        ),
        ("OpenSSL/3.0.19: error:0A000458:SSL routines::tlsv1 unrecognized name", .unknownServerName),
        ("OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", .notTLS),
        ("TLS connect error: error:0A000102:SSL routines::unsupported protocol", .tlsVersion),
    ])
    func aLastingRefusalHasItsCause(text: String, cause: FailureCause) {
        #expect(Self.cause(text) == cause)
    }

    @Test func aHandshakeFailureIsAboutTheCertificateThatTheServerAskedFor() {
        let text = Self.text(1040, "sslv3 alert handshake failure")
        #expect(Self.cause(text, asked: true) == .clientCertificateRequired)
        #expect(Self.cause(text, asked: true, has: true) == .clientCertificateRefused)
        #expect(Self.cause(text, has: true) == .tlsParameters)
        #expect(
            Self.cause(Self.text(1048, "tlsv1 alert unknown ca"), asked: true, has: true) == .clientCertificateRefused)
        #expect(Self.cause(Self.text(1042, "bad certificate"), asked: true) == .clientCertificateRequired)
    }

    @Test func onlyAlertsThatMayComeOnceAreRetried() {
        // RFC 8446 §6: closure, damaged or unexpected messages, internal errors, a cancelled handshake.
        let passing: Set<UInt32> = [0, 10, 20, 22, 50, 51, 80, 90]
        let lasting: Set<UInt32> = [
            40, 42, 43, 44, 45, 46, 47, 48, 49, 70, 71, 86, 109, 110, 112, 113, 116, 120,
        ]
        for alert in passing { #expect(Self.cause(Self.text(1000 + alert)) == nil, "\(alert)") }
        for alert in lasting { #expect(Self.cause(Self.text(1000 + alert)) != nil, "\(alert)") }
    }

    @Test(arguments: [
        "", "Connection reset by peer", "error:", "error:0A", "error:ZZZZZZZZ:SSL routines::x",
        "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a:443", "error:80000002:system library::no such file",
        "OpenSSL/3.0.19: error:0A000126:SSL routines::unexpected eof while reading",
        "OpenSSL/3.0.19: error:0A000119:SSL routines::decryption failed or bad record mac",
    ])
    func otherTextsAreNoRefusal(text: String) {
        #expect(Self.cause(text) == nil)
    }

    @Test func theSentenceNamesWhatIsMissing() throws {
        let refusal = try #require(
            TLSRefusal(
                Self.text(1070, "tlsv1 alert protocol version"), TLSRefusal.Circumstances(minimumTLS: .tls13)))
        #expect(
            refusal.problem.contains("1.3 and later")
                && refusal.problem.hasSuffix("(TLS: tlsv1 alert protocol version)"))
    }

    @Test func aPageOfATLSPortIsRecognised() {
        for page in [
            "<center>The plain HTTP request was sent to HTTPS port</center>",
            "Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />",
            "Client sent an HTTP request to an HTTPS server.\n", "This combination of host and port requires TLS.",
        ] { #expect(TLSPortComplaint.isIn(page.utf8)) }
        #expect(!TLSPortComplaint.isIn("<h1>400 Bad Request</h1>".utf8) && !TLSPortComplaint.isIn([]))
    }
}
