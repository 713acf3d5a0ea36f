import NIOCore

/// Tells the handlers behind it that bytes have come: a request has begun before the decoder knows anything of it.
final class HTTPBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct BytesReceived: Sendable {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(BytesReceived())
        context.fireChannelRead(data)
    }
}
