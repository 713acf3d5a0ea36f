public import XferModel

/// The way to an unlucky server: over HTTP/1.1 with or without TLS, or over HTTP/2.
public enum UnluckyTransport: Sendable {
    case plain(FaultServer)
    case secure(TLSServer)
    case http2(NginxFixture)

    /// The choice of the seed: three in a row are all. Without nginx HTTP/1.1 takes the place of HTTP/2.
    public init(_ seed: UInt64, to server: FaultServer, _ authority: TestCA) async throws {
        guard seed % 3 > 0 else {
            self = .plain(server)
            return
        }
        let leaf = try authority.issue()
        if seed % 3 == 2, NginxFixture.isInstalled {
            var options = NginxFixture.Options()
            options.tls = (authority.chain(for: leaf), leaf.privateKey)
            options.backend = server.port
            self = .http2(try await NginxFixture(options))
        } else {
            var options = TLSServer.Options(chain: authority.chain(for: leaf), privateKey: leaf.privateKey)
            options.backend = server.port
            self = .secure(try TLSServer(options))
        }
    }

    public func url(_ path: String) -> HTTPURL {
        let (scheme, host, port): (HTTPURL.Scheme, String, Int) =
            switch self {
            case .plain(let server): (.http, "127.0.0.1", server.port)
            case .secure(let server): (.https, "localhost", server.port)
            case .http2(let nginx): (.https, "localhost", nginx.httpsPort)
            }
        return HTTPURL(scheme: scheme, host: host, port: UInt16(clamping: port), target: path)
    }

    /// The scheme and authority of the server under another name, which has a dead address, too; nil over TLS, which a
    /// redirect does not leave.
    public var elsewhere: String? {
        if case .plain(let server) = self { "http://localhost:\(server.port)" } else { nil }
    }

    public var isHTTP2: Bool {
        if case .http2 = self { true } else { false }
    }

    public func end() async {
        switch self {
        case .plain: break
        case .secure(let server): server.stop()
        case .http2(let nginx): await nginx.stop()
        }
    }
}
