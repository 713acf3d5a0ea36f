import NIOCore

/// Waits for the first byte of a connection and sets up the dialect it chooses.
final class DialectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let connection: RPCConnection
    private let dispatcher: Dispatcher
    private let routes: HTTPRouteTable
    private let executor: LoopExecutor

    init(
        connection: RPCConnection, dispatcher: Dispatcher, routes: HTTPRouteTable, executor: LoopExecutor
    ) {
        self.connection = connection
        self.dispatcher = dispatcher
        self.executor = executor
        self.routes = routes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let first = Self.unwrapInboundIn(data).readableBytesView.first else { return }
        let pipeline = context.pipeline.syncOperations
        do {
            switch Dialect(firstByte: first) {
            case .lines:
                try pipeline.addHandler(
                    LineHandler(connection: connection, dispatcher: dispatcher, executor: executor))
            case .http:
                try pipeline.addHandlers(
                    HTTPHandler.pipeline(
                        HTTPHandler(origin: .peer(connection), dispatcher: dispatcher, routes: routes),
                        limits: dispatcher.limits))
            }
        } catch {
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
        pipeline.removeHandler(context: context, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed, is FinishEvent: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// The protocol of a connection, chosen by the first byte that the client sends.
enum Dialect: Hashable {
    /// One JSON-RPC message per line, in both directions (NDJSON).
    case lines
    case http

    init(firstByte: UInt8) {
        switch firstByte {
        case UInt8(ascii: "{"), UInt8(ascii: "["), 0x20, 0x09, 0x0A, 0x0D: self = .lines
        default: self = .http
        }
    }
}
