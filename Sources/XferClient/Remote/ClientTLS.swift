import NIOCore

#if TLS
    import NIOSSL
#endif

/// TLS to a daemon on the network.
enum ClientTLS {
    /// The meaning of a failed handshake, without the library's own notation.
    ///
    /// - Parameter error: an error of NIOSSL's as text, or another one, which is returned unchanged.
    static func words(_ error: String) -> String {
        if error.contains("CERTIFICATE_VERIFY_FAILED") {
            return "its certificate is not trusted on this machine: it has expired, or no known authority has signed it"
        }
        if error.contains("failedToValidateHostname") { return "its certificate is for another name" }
        if error.contains("WRONG_VERSION_NUMBER") { return "it does not use TLS there" }
        guard let reason = error.firstMatch(of: #/OPENSSL_internal:([A-Z0-9_]+)/#) else { return error }
        return "TLS: " + reason.output.1.lowercased().replacing("_", with: " ")
    }

    #if TLS
        /// Adds TLS to a connection. The server's certificate is checked for its name or address.
        static func addHandler(for server: ServerAddress, to channel: any Channel) throws {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            if let file = server.authoritiesFile {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
            }
            let isAddress = (try? SocketAddress(ipAddress: server.host, port: server.port)) != nil
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(
                    context: NIOSSLContext(configuration: configuration), serverHostname: isAddress ? nil : server.host)
            )
        }
    #else
        static func addHandler(for server: ServerAddress, to channel: any Channel) throws { throw Missing() }

        /// The program was built without the trait `TLS`.
        private struct Missing: Error, CustomStringConvertible {
            var description: String { "this program was built without TLS (the trait TLS)" }
        }
    #endif
}
