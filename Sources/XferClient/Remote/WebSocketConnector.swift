import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Opens a WebSocket to a daemon on the network, on which each message is a text message.
enum WebSocketConnector {
    /// The largest message that is accepted. The daemon's answers are bounded by its own limits.
    static let maxMessageBytes = 256 << 20

    /// Connects; `install` adds its handlers, which read and write messages as byte buffers.
    ///
    /// - Returns: the channel after the handshake; it fails with a `ConnectionError`.
    static func connect(
        to server: ServerAddress, timeout: Duration, on loop: any EventLoop,
        install: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        let outcome = loop.makePromise(of: (any Channel).self)
        let limit = loop.scheduleTask(in: TimeAmount(timeout)) { outcome.fail(Silence()) }
        outcome.futureResult.whenComplete { _ in limit.cancel() }
        ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(timeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A server that went away without a word is noticed after two minutes (tcp(7)).
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), value: 60)
            .channelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), value: 10)
            .channelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), value: 6)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if server.isEncrypted { try ClientTLS.addHandler(for: server, to: channel) }
                    outcome.futureResult.whenFailure { _ in channel.close(promise: nil) }
                    try upgrade(channel, server, install).map { channel }.cascade(to: outcome)
                }
            }
            .connect(host: server.host, port: server.port)
            .whenFailure { outcome.fail($0) }
        return outcome.futureResult.flatMapErrorThrowing { throw connectionError(for: $0, server) }
    }

    private static func connectionError(for error: any Error, _ server: ServerAddress) -> ConnectionError {
        // A TLS server answers HTTP with an alert, or by closing the connection.
        let hint = server.isEncrypted ? "" : "; if it speaks https, write https:// in place of http://"
        return switch error {
        case let refusal as Refusal:
            refusal.status == 0
                ? .server(server.description, reason: "it closed the connection\(hint)")
                : .rejected(server.description, status: refusal.status, reason: refusal.firstLine)
        case let failure as NIOConnectionError:
            .server(
                server.description,
                // Without an address there is no connection that could fail.
                reason: failure.connectionErrors.isEmpty
                    ? "its name cannot be resolved" : "nothing listens there, or a firewall is in the way")
        case ChannelError.connectTimeout, is Silence: .server(server.description, reason: "it does not answer")
        case is HTTPParserError where !server.isEncrypted:
            .server(server.description, reason: "its answer is not HTTP\(hint)")
        default: .server(server.description, reason: ClientTLS.words("\(error)") + hint)
        }
    }

    private static func upgrade(
        _ channel: any Channel, _ server: ServerAddress, _ install: @escaping @Sendable (any Channel) throws -> Void
    ) throws -> EventLoopFuture<Void> {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/ws")
        let authority = server.description.split(separator: "/").last.map(String.init) ?? server.host
        head.headers = [
            "Host": authority, "Authorization": "Bearer \(server.token)", "Content-Length": "0",
        ]
        let upgrader = NIOTypedWebSocketClientUpgrader<EventLoopFuture<Void>>(
            maxFrameSize: maxMessageBytes
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024,
                        maxAccumulatedFrameSize: maxMessageBytes),
                    WebSocketMessages(),
                ])
                try install(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
        }
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<EventLoopFuture<Void>>(
            upgradeRequestHead: head, upgraders: [upgrader]
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                let reader = RefusalReader(channel.eventLoop.makePromise(of: Void.self))
                try channel.pipeline.syncOperations.addHandler(reader)
                return reader.outcome.futureResult
            }
        }
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: .init(upgradeConfiguration: configuration)
        ).flatMap { $0 }
    }

    /// The error of an answer that did not arrive in time.
    private struct Silence: Error, CustomStringConvertible {
        var description: String { "no answer in time" }
    }
}

/// The server's answer to a handshake that it refused; status 0 without one.
private struct Refusal: Error, CustomStringConvertible {
    let status: Int
    let text: String

    var firstLine: String { text.split(separator: "\n").first.map(String.init) ?? "" }
    var description: String { "status \(status): \(firstLine)" }
}

/// Reads why a handshake was refused.
private final class RefusalReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// A promise that always fails.
    let outcome: EventLoopPromise<Void>
    private var status = 0
    private var text = ""

    /// The bytes of an error response that are read: enough for a sentence.
    private static let maxBytes = 1000

    init(_ outcome: EventLoopPromise<Void>) { self.outcome = outcome }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): status = Int(clamping: head.status.code)
        case .body(let bytes):
            if text.utf8.count < Self.maxBytes {
                text += String(decoding: bytes.readableBytesView.prefix(Self.maxBytes), as: UTF8.self)
            }
        case .end:
            outcome.fail(Refusal(status: status, text: text))
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        outcome.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        outcome.fail(Refusal(status: status, text: text))
        context.fireChannelInactive()
    }
}
