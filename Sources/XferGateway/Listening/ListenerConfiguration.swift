/// One listener, as the operator configured it.
public struct ListenerConfiguration: Hashable, Sendable {
    /// The files of a server's certificate.
    public struct TLS: Hashable, Sendable {
        /// PEM file with the server's certificate, followed by those of intermediate authorities; absolute.
        public var certificate: String
        /// PEM file with its private key; absolute.
        public var key: String
        /// PEM file with the authorities of client certificates; if there is one, clients must show a certificate.
        public var clientAuthorities: String?

        public init(certificate: String, key: String, clientAuthorities: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.clientAuthorities = clientAuthorities
        }

        public var files: [String] { [certificate, key] + [clientAuthorities].compactMap(\.self) }
    }

    public var address: ListenAddress
    /// The settings for TLS; nil is plain HTTP.
    public var tls: TLS?
    /// Names by which clients reach it, in lower case, in addition to its addresses and `localhost`.
    public var hosts: [String]
    /// Origins of the web pages that may call, as browsers send them: `https://ui.example`.
    public var origins: [String]

    public init(address: ListenAddress, tls: TLS? = nil, hosts: [String] = [], origins: [String] = []) {
        self.address = address
        self.tls = tls
        self.hosts = hosts
        self.origins = origins
    }
}
