import NIOConcurrencyHelpers
import NIOCore

#if TLS
    import Glibc
    import NIOSSL
#endif

#if TLS
    /// The TLS context of a listener, made from its files and made again when they change.
    ///
    /// New connections use the newest context; open ones keep theirs.
    final class CertificateFiles: Sendable {
        private let files: ListenerConfiguration.TLS
        private let current: NIOLockedValueBox<NIOSSLContext>

        /// - Throws: `GatewayError.certificate`, which contains the file.
        init(_ files: ListenerConfiguration.TLS) throws(GatewayError) {
            self.files = files
            current = NIOLockedValueBox(try Self.context(files))
        }

        /// Adds TLS to a new connection.
        func addHandler(to pipeline: ChannelPipeline.SynchronousOperations) throws {
            try pipeline.addHandler(NIOSSLServerHandler(context: current.withLockedValue(\.self)))
        }

        /// Reads the files again. If they are not usable, the last context stays in use.
        func reload() throws(GatewayError) {
            let newer = try Self.context(files)
            current.withLockedValue { $0 = newer }
        }

        private static func context(_ files: ListenerConfiguration.TLS) throws(GatewayError) -> NIOSSLContext {
            let chain = try reading(files.certificate) { try NIOSSLCertificate.fromPEMFile($0) }
            guard !chain.isEmpty else { throw .certificate(file: files.certificate, "it contains no certificate") }
            let key = try reading(files.key) { try NIOSSLPrivateKey(file: $0, format: .pem) }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            if let file = files.clientAuthorities {
                let authorities = try reading(file) { try NIOSSLCertificate.fromPEMFile($0) }
                configuration.trustRoots = .certificates(authorities)
                configuration.certificateVerification = .noHostnameVerification
            }
            return try reading(files.key) { _ in try NIOSSLContext(configuration: configuration) }
        }

        private static func reading<Value>(
            _ file: String, _ body: (String) throws -> Value
        ) throws(GatewayError) -> Value {
            // The library's own errors do not say which of these it was.
            let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            guard descriptor >= 0 else { throw .certificate(file: file, String(cString: strerror(errno))) }
            Glibc.close(descriptor)
            do {
                return try body(file)
            } catch {
                throw .certificate(file: file, "\(error)")
            }
        }
    }
#else
    /// A replacement in programs that were built without the trait `TLS`: no listener can have a certificate.
    final class CertificateFiles: Sendable {
        init(_ files: ListenerConfiguration.TLS) throws(GatewayError) {
            throw .certificate(
                file: files.certificate, "this xferd was built without TLS for listeners (the trait TLS)")
        }

        func addHandler(to pipeline: ChannelPipeline.SynchronousOperations) throws {}

        func reload() throws(GatewayError) {}
    }
#endif

extension ListenerConfiguration.TLS {
    /// The reason why the files cannot be used; nil if they can.
    public var fault: String? {
        do throws(GatewayError) {
            _ = try CertificateFiles(self)
            return nil
        } catch {
            return error.description
        }
    }
}

/// The reason why a listener cannot be started, or its certificate not be renewed.
public enum GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    case certificate(file: String, String)
    /// The address is in use, is none of this machine's, or the port is reserved.
    case listen(address: String, String)

    public var description: String {
        switch self {
        case .certificate(let file, let reason): "\(file) cannot be used for TLS: \(reason)"
        case .listen(let address, let reason): "cannot listen on \(address): \(reason)"
        }
    }
}
