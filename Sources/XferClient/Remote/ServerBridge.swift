import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Joins a WebSocket of a daemon on the network to a local socket, over which a client speaks lines as to a daemon of
/// this machine. So everything above the socket is the same for both.
enum ServerBridge {
    /// The largest message that is accepted. The daemon's answers are bounded by its own limits.
    private static let maxMessageBytes = 256 << 20

    /// Connects. The bridge ends when either side closes.
    ///
    /// - Returns: the local socket, which the caller owns.
    static func open(_ server: ServerAddress, timeout: Duration?) throws(ConnectionError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0, &ends) == 0 else {
            throw .system(call: "socketpair", errno: errno)
        }
        let flags = fcntl(ends[0], F_GETFL)
        _ = fcntl(ends[0], F_SETFL, flags | O_NONBLOCK)
        // One thread for as long as the program runs: it is a client's.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try join(ends[1], to: server, timeout ?? .seconds(30), on: group.next()).wait()
            return ends[0]
        } catch {
            close(ends[0])
            throw .server(server.description, reason: reason(for: error, server))
        }
    }

    private static func reason(for error: any Error, _ server: ServerAddress) -> String {
        switch error {
        case let refusal as Refusal: refusal.description
        case is NIOConnectionError: "nothing listens there, or a firewall is in the way"
        case ChannelError.connectTimeout, is Silence: "it does not answer"
        default: "\(error)"
        }
    }

    // MARK: Connecting

    private static func join(
        _ descriptor: Int32, to server: ServerAddress, _ timeout: Duration, on loop: any EventLoop
    ) -> EventLoopFuture<Void> {
        ClientBootstrap(group: loop).channelOption(.autoRead, value: false).withConnectedSocket(descriptor)
            .flatMap { local in
                connect(server, timeout, local, on: loop).flatMapErrorThrowing { error in
                    local.close(promise: nil)
                    throw error
                }
            }
    }

    private static func connect(
        _ server: ServerAddress, _ timeout: Duration, _ local: any Channel, on loop: any EventLoop
    ) -> EventLoopFuture<Void> {
        let outcome = loop.makePromise(of: Void.self)
        let limit = loop.scheduleTask(in: TimeAmount(timeout)) { outcome.fail(Silence()) }
        outcome.futureResult.whenComplete { _ in limit.cancel() }
        ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(timeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A server that went away without a word is noticed, after hours, as on every idle connection.
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if server.isEncrypted { try ClientTLS.addHandler(for: server, to: channel) }
                    try upgrade(channel, server, local).cascade(to: outcome)
                }
            }
            .connect(host: server.host, port: server.port)
            .whenFailure { outcome.fail($0) }
        return outcome.futureResult
    }

    private static func upgrade(
        _ channel: any Channel, _ server: ServerAddress, _ local: any Channel
    ) throws -> EventLoopFuture<Void> {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/ws")
        let authority = server.description.split(separator: "/").last.map(String.init) ?? server.host
        head.headers = [
            "Host": authority, "Authorization": "Bearer \(server.token)", "Content-Length": "0",
        ]
        let upgrader = NIOTypedWebSocketClientUpgrader<EventLoopFuture<Void>>(
            maxFrameSize: maxMessageBytes
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture { try relay(between: channel, and: local) }
                .map { channel.eventLoop.makeSucceededVoidFuture() }
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

    /// - Precondition: both channels are of one event loop, and called on it.
    private static func relay(between socket: any Channel, and local: any Channel) throws {
        try socket.pipeline.syncOperations.addHandlers([
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024, maxAccumulatedFrameSize: maxMessageBytes),
            MessageRelay(to: local),
        ])
        try local.pipeline.syncOperations.addHandlers([
            ByteToMessageHandler(LineFrames(), maximumBufferSize: maxMessageBytes), LineRelay(to: socket),
        ])
        local.setOption(.autoRead, value: true).whenFailure { _ in local.close(promise: nil) }
    }

    /// No answer in time.
    private struct Silence: Error, CustomStringConvertible {
        var description: String { "no answer in time" }
    }
}

/// The server's answer to a handshake that it refused.
private struct Refusal: Error, CustomStringConvertible {
    let status: Int
    let text: String

    var description: String {
        let words = text.split(separator: "\n").first.map(String.init) ?? ""
        return "it answers with status \(status)" + (words.isEmpty ? "" : ": \(words)")
    }
}

/// Reads why a handshake was refused.
private final class RefusalReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// Always fails.
    let outcome: EventLoopPromise<Void>
    private var status = 0
    private var text = ""

    /// Enough for a sentence.
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

/// The messages of the WebSocket, as lines for the client.
private final class MessageRelay: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let local: any Channel

    init(to local: any Channel) { self.local = local }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            var line = frame.unmaskedData
            line.writeInteger(UInt8(ascii: "\n"))
            local.writeAndFlush(line, promise: nil)
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
            context.writeAndFlush(Self.wrapOutboundOut(pong), promise: nil)
        case .connectionClose: context.close(promise: nil)
        default: break
        }
    }

    /// While the server takes nothing, the client is not read.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        local.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        local.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// The client's lines, as messages of the WebSocket.
private final class LineRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let socket: any Channel

    init(to socket: any Channel) { self.socket = socket }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = WebSocketFrame(
            fin: true, opcode: .text, maskKey: .random(), data: Self.unwrapInboundIn(data))
        socket.writeAndFlush(frame, promise: nil)
    }

    /// While the client takes nothing, the server is not read.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        socket.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        socket.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Splits bytes into lines, without their line feeds.
private struct LineFrames: NIOSingleStepByteToMessageDecoder {
    typealias InboundOut = ByteBuffer

    mutating func decode(buffer: inout ByteBuffer) -> ByteBuffer? {
        guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = buffer.readSlice(length: end - buffer.readerIndex)
        buffer.moveReaderIndex(forwardBy: 1)
        return line
    }

    mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) -> ByteBuffer? { decode(buffer: &buffer) }
}
