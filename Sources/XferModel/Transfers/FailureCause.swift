/// The exact cause, for reasons with causes that need different remedies.
public enum FailureCause: String, Sendable, Codable, CaseIterable {
    // The TLS handshake.
    /// Client and server have no TLS version in common.
    case tlsVersion = "tls_version"
    /// Client and server have no cipher, group, signature or protocol in common.
    case tlsParameters = "tls_parameters"
    /// The server requires a client certificate, and none was given.
    case clientCertificateRequired = "client_certificate_required"
    /// The server refuses the client certificate.
    case clientCertificateRefused = "client_certificate_refused"
    /// The server knows no host of the URL's name.
    case unknownServerName = "unknown_server_name"
    /// An `https` URL leads to a port that does not answer with TLS.
    case notTLS = "not_tls"
    /// An `http` URL leads to a port that expects TLS.
    case tlsExpected = "tls_expected"
    /// The port answers with something that is not HTTP, for example with a TLS alert or another protocol's greeting.
    case notHTTP = "not_http"

    // The server's certificate.
    /// The certificate is self-signed, or its chain ends at a self-signed certificate that is not a trust anchor.
    case selfSigned = "self_signed"
    /// The chain does not lead to a trust anchor.
    case unknownAuthority = "unknown_authority"
    /// The certificate is not valid for the host.
    case wrongHostName = "wrong_host_name"
    /// A certificate of the chain has expired, or is not valid yet.
    case certificateDates = "certificate_dates"

    // The received bytes.
    /// They do not have the digest that the server announced.
    case announcedDigest = "announced_digest"
    /// They do not have the digest of another task, under which they were received.
    case sharedDigest = "shared_digest"
    /// The response is a web page, and the task refuses those (`reject_html`).
    case webPage = "web_page"

    // The existing file.
    /// Nothing shows that the existing file is the beginning of the source's version.
    case unprovenBeginning = "unproven_beginning"

    // The proxy's authentication.
    /// The proxy does not accept the kind of credential that was sent, but accepts Negotiate (Kerberos).
    case proxyNegotiate = "proxy_negotiate"
    /// The proxy accepts only kinds of credentials that xfer does not support, such as NTLM.
    case proxyLoginUnsupported = "proxy_login_unsupported"
}
