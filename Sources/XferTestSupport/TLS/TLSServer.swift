import COpenSSL
import Glibc
import NIOConcurrencyHelpers
import XferModel

/// A TLS server on the loopback, one thread per connection, that gives every HTTP/1.1 request the same answer and
/// counts requests.
///
/// It has features that nginx lacks: it sends any chain, offers session tickets, requests client certificates, and can
/// be an HTTP CONNECT proxy, with TLS or without, or a SOCKS 5 proxy.
public final class TLSServer: Sendable {
    public struct Options: Sendable {
        /// The certificates that are sent, as PEM: leaf, intermediates and any others. Empty disables TLS.
        public var chain = ""
        public var privateKey = ""
        /// The address: `127.0.0.1` or `::1`.
        public var address = "127.0.0.1"
        /// The port; 0 makes the kernel choose one.
        public var port = 0
        /// Port on 127.0.0.1 of a plain server that answers instead of this one.
        public var backend: Int?
        /// Offers sessions for resumption.
        public var offersResumption = false
        /// Highest version, for example `TLS1_1_VERSION`; 0 is OpenSSL's.
        public var maxVersion: Int32 = 0
        /// PEM of the authority of client certificates that are requested; nil requests none.
        public var clientAuthority: String?
        /// True if connections end with close_notify.
        public var sendsCloseNotify = false
        /// True if HTTP/2 is chosen if the client offers it. The backend has to support it then.
        public var speaksHTTP2 = false
        /// True if clients without a certificate are refused.
        public var requiresClient = false
        /// The OCSP response, DER, that is stapled to handshakes whose client requests one; nil sends none.
        public var staple: [UInt8]?
        /// Relays CONNECT requests to their port on 127.0.0.1, for every host.
        public var isProxy = false
        /// True if the server is a SOCKS 5 proxy (RFC 1928) without authentication, which relays, too.
        public var isSOCKS = false
        /// `user:password` that clients of the proxy have to show: `Proxy-Authorization: Basic`, or RFC 1929.
        public var proxyLogin: String?
        /// The digest that clients of the proxy have to send instead.
        public var proxyRealm: DigestRealm?
        /// Header lines of every answer, each with its end of line, after the status line.
        public var status = "200 OK"
        public var headers = ""
        public var body = "hello\n"

        public init() {}

        public init(chain: String, privateKey: String) {
            self.chain = chain
            self.privateKey = privateKey
        }
    }

    /// The totals so far.
    public struct Counts: Sendable {
        public var connections = 0
        /// Handshakes that the client finished.
        public var handshakes = 0
        /// The number of handshakes that resumed a session.
        public var resumptions = 0
        /// Request lines, in order; of a SOCKS proxy `SOCKS host:port`.
        public var requests: [String] = []
        /// The heads of the requests, request lines included.
        public var heads: [String] = []
        /// Subjects of client certificates that were accepted.
        public var clients: [String] = []
    }

    private struct State {
        var counts = Counts()
        var sockets: Set<Int32> = []
        var isClosed = false
    }

    public let port: Int
    private let listener: Int32
    private let state = NIOLockedValueBox(State())

    public init(_ options: Options) throws {
        signal(SIGPIPE, SIG_IGN)
        let context = try options.chain.isEmpty ? nil : TLSServerContext(options)
        (listener, port) = try Self.listen(options.address, options.port)
        let listener = listener
        let state = state
        startThread {
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    close(listener)
                    return
                }
                let isWanted = state.withLockedValue { state in
                    if state.isClosed { return false }
                    state.counts.connections += 1
                    state.sockets.insert(socket)
                    return true
                }
                guard isWanted else {
                    close(socket)
                    continue
                }
                startThread {
                    Self.serve(socket, context, options, state)
                    state.withLockedValue { _ = $0.sockets.remove(socket) }
                    close(socket)
                }
            }
        }
    }

    deinit { stop() }

    /// Closes everything; also done when the last reference is released.
    public func stop() {
        state.withLockedValue { state in
            if state.isClosed { return }
            state.isClosed = true
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            shutdown(listener, Int32(SHUT_RDWR))
        }
    }

    public var counts: Counts { state.withLockedValue { $0.counts } }

    // MARK: Connections

    private static func serve(
        _ socket: Int32, _ context: TLSServerContext?, _ options: Options, _ state: NIOLockedValueBox<State>
    ) {
        let stream: ServerStream
        if let context {
            guard let accepted = ServerStream(accepting: socket, context) else { return }
            stream = accepted
            let (isResumed, client) = (stream.isResumed, stream.clientSubject)
            state.withLockedValue { state in
                state.counts.handshakes += 1
                if isResumed { state.counts.resumptions += 1 }
                if let client { state.counts.clients.append(client) }
            }
        } else {
            stream = ServerStream(socket)
        }
        if let backend = options.backend {
            relay(stream, to: UInt16(clamping: backend), greeting: [])
            if options.sendsCloseNotify { stream.sendCloseNotify() }
            return
        }
        if options.isSOCKS {
            if let (host, port) = stream.acceptSOCKS(login: options.proxyLogin) {
                state.withLockedValue { $0.counts.requests.append("SOCKS \(host):\(port)") }
                relay(stream, to: port, greeting: [])
            }
            return
        }
        while let head = stream.readHead(), let line = head.split(separator: "\r\n").first.map(String.init) {
            state.withLockedValue { state in
                state.counts.requests.append(line)
                state.counts.heads.append(head)
            }
            if options.isProxy, let login = options.proxyLogin,
                !head.contains("\r\nProxy-Authorization: Basic \(Base64.encode(login.utf8))")
            {
                let refusal =
                    "HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"
                guard stream.write(Array(refusal.utf8)) else { return }
                continue
            }
            if let refusal = options.proxyRealm?.refusal(of: head, nonce: "n1") {
                guard stream.write(Array(refusal.utf8)) else { return }
                continue
            }
            if options.isProxy, line.hasPrefix("CONNECT ") {
                let target = line.split(separator: " ")[1]
                let port = target.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
                relay(stream, to: port, greeting: Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
                return
            }
            let text =
                "HTTP/1.1 \(options.status)\r\n\(options.headers)Content-Length: \(options.body.utf8.count)\r\n\r\n"
                + options.body
            guard stream.write(Array(text.utf8)), !options.headers.contains("Connection: close") else { return }
        }
    }

    private static func relay(_ stream: ServerStream, to port: UInt16, greeting: [UInt8]) {
        guard let other = connectLoopback(port) else { return }
        defer { close(other) }
        guard stream.write(greeting) else { return }
        let upstream = ServerStream(other)
        while true {
            var waiting = [
                pollfd(fd: stream.socket, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            ]
            if !stream.hasPending { guard poll(&waiting, 2, -1) > 0 else { return } }
            if stream.hasPending || waiting[0].revents != 0 {
                guard let bytes = stream.read(), upstream.write(bytes) else { return }
            }
            if waiting[1].revents != 0 { guard let bytes = upstream.read(), stream.write(bytes) else { return } }
        }
    }

    // MARK: Sockets

    static func listen(_ address: String, _ port: Int) throws -> (Int32, Int) {
        let isIPv6 = address.contains(":")
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = socket(isIPv6 ? AF_INET6 : AF_INET, type, 0)
        guard listener >= 0 else { throw PosixError("socket") }
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let wanted = UInt16(clamping: port).bigEndian
        var storage = sockaddr_storage()
        var length = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &storage) { pointer in
            if isIPv6 {
                pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    $0.pointee.sin6_family = sa_family_t(AF_INET6)
                    $0.pointee.sin6_port = wanted
                    inet_pton(AF_INET6, address, &$0.pointee.sin6_addr)
                }
            } else {
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    $0.pointee.sin_family = sa_family_t(AF_INET)
                    $0.pointee.sin_port = wanted
                    inet_pton(AF_INET, address, &$0.pointee.sin_addr)
                }
            }
            return pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && Glibc.listen(listener, 128) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else {
            close(listener)
            throw PosixError("bind \(address)")
        }
        // The port lies at the same place in both kinds of address.
        let port = withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
        }
        return (listener, Int(port))
    }

    private static func connectLoopback(_ port: UInt16) -> Int32? {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if connected { return made }
        close(made)
        return nil
    }

    /// A blocking client socket connected to a port of 127.0.0.1; the caller closes it.
    public static func connect(port: Int) throws -> Int32 {
        guard let port = UInt16(exactly: port), let socket = connectLoopback(port) else {
            throw PosixError("connect to port \(port)")
        }
        return socket
    }
}
