import NIOCore

#if TLS
    import NIOSSL
#endif

/// TLS to a daemon on the network.
enum ClientTLS {
    #if TLS
        /// Makes a connection speak TLS, with the server's certificate checked for its name or address.
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
