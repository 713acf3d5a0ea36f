import NIOCore

/// Tells the handlers behind it that bytes have come: a request has begun before the decoder knows anything of it.
final class HTTPBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct BytesReceived: Sendable {}

    /// The last byte goes by itself: if a request ended before it, another one has begun, which the decoder would not say.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        context.fireUserInboundEventTriggered(BytesReceived())
        if let most = bytes.readSlice(length: max(0, bytes.readableBytes - 1)), most.readableBytes > 0 {
            context.fireChannelRead(NIOAny(most))
            context.fireUserInboundEventTriggered(BytesReceived())
        }
        context.fireChannelRead(NIOAny(bytes))
    }
}
