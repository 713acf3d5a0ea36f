import Glibc
import NIOCore
import NIOPosix

/// Joins a WebSocket of a daemon on the network to a local socket, over which a client uses the same line protocol as
/// with a daemon of this machine. So everything above the socket is the same for both.
enum ServerBridge {
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
            throw error as? ConnectionError ?? .server(server.description, reason: "\(error)")
        }
    }

    private static func join(
        _ descriptor: Int32, to server: ServerAddress, _ timeout: Duration, on loop: any EventLoop
    ) -> EventLoopFuture<Void> {
        ClientBootstrap(group: loop).channelOption(.autoRead, value: false).withConnectedSocket(descriptor)
            .flatMap { local in
                WebSocketConnector.connect(to: server, timeout: timeout, on: loop) { socket in
                    try relay(between: socket, and: local)
                }
                .map { _ in }
                .flatMapErrorThrowing { error in
                    local.close(promise: nil)
                    throw error
                }
            }
    }

    /// Connects two channels, so that each gets the messages of the other.
    ///
    /// - Precondition: both channels are of one event loop, and called on it.
    private static func relay(between socket: any Channel, and local: any Channel) throws {
        try socket.pipeline.syncOperations.addHandler(MessageRelay(to: local))
        try local.pipeline.syncOperations.addHandlers(
            LineMessages.handlers(limit: WebSocketConnector.maxMessageBytes) + [MessageRelay(to: socket)])
        local.setOption(.autoRead, value: true).whenFailure { _ in local.close(promise: nil) }
    }
}

/// Writes the messages of its channel to the other one.
private final class MessageRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(Self.unwrapInboundIn(data), promise: nil)
    }

    /// Stops reading the other channel while this one takes no bytes.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        other.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
