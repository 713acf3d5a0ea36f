import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A TCP proxy to a port of 127.0.0.1 that can swallow everything, as a network does whose packets are dropped: no
/// connection breaks, and nothing arrives. What was sent meanwhile arrives when it stops swallowing.
public final class SwallowingProxy: Sendable {
    public let port: Int
    private let channel: any Channel
    private let isSwallowing = NIOLockedValueBox(false)
    private let relays = NIOLockedValueBox<[Relay]>([])

    public init(to target: Int) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let (flag, relays) = (isSwallowing, relays)
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelOption(.autoRead, value: false)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMap { server in
                        let (there, back) = (Relay(to: server, flag), Relay(to: client, flag))
                        relays.withLockedValue { $0 += [there, back] }
                        return client.pipeline.addHandler(there).flatMap { server.pipeline.addHandler(back) }
                            .flatMap {
                                client.setOption(.autoRead, value: true).and(server.setOption(.autoRead, value: true))
                                    .map { _ in }
                            }
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let bound = channel.localAddress?.port else { throw TimedOut("the proxy has no port") }
        port = bound
    }

    /// Whether everything is swallowed from now on.
    public func swallow(_ swallows: Bool) {
        isSwallowing.withLockedValue { $0 = swallows }
        guard !swallows else { return }
        for relay in relays.withLockedValue({ $0 }) { relay.flush() }
    }

    public func stop() async { try? await channel.close() }
}

/// One direction of a connection.
private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let target: any Channel
    private let isSwallowing: NIOLockedValueBox<Bool>
    private let waiting = NIOLockedValueBox<(buffers: [ByteBuffer], isClosed: Bool)>(([], false))

    init(to target: any Channel, _ isSwallowing: NIOLockedValueBox<Bool>) {
        self.target = target
        self.isSwallowing = isSwallowing
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        waiting.withLockedValue { $0.buffers.append(buffer) }
        if !isSwallowing.withLockedValue({ $0 }) { flush() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        waiting.withLockedValue { $0.isClosed = true }
        if !isSwallowing.withLockedValue({ $0 }) { flush() }
    }

    func flush() {
        let (buffers, isClosed) = waiting.withLockedValue { waiting in
            defer { waiting.buffers = [] }
            return waiting
        }
        for buffer in buffers { target.writeAndFlush(buffer, promise: nil) }
        if isClosed { target.close(promise: nil) }
    }
}
