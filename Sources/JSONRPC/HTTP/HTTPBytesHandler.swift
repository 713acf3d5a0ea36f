import NIOCore

/// Reports received bytes to the handlers behind it: a request has begun before the decoder reports it.
final class HTTPBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct BytesReceived: Sendable {}

    /// The last byte is passed on by itself: if a request ended before it, another one has begun, which the decoder
    /// would not report.
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
