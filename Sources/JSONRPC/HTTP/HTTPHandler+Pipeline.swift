import NIOCore
import NIOHTTP1

extension HTTPHandler {
    /// The handlers of an HTTP connection, `handler` last.
    static func pipeline(_ handler: HTTPHandler, limits: RPCLimits) -> [any ChannelHandler] {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = limits.headerBytes
        decoding.maxHeaderListSize = limits.headerBytes
        decoding.maxHeaderFieldCount = limits.headerFields
        var framing = HTTPResponseEncoder.Configuration()
        framing.automaticallySetFramingHeaders = false
        return [
            HTTPBytesHandler(),
            HTTPResponseEncoder(configuration: framing),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: decoding)),
            HTTPServerPipelineHandler(),
            handler,
        ]
    }

    /// Replaces the handlers of HTTP in `channel` with those of a WebSocket, whose messages `lines` answers.
    ///
    /// The response is written when the decoder of HTTP is gone: bytes that the client sends before it has the response
    /// are no frames, and the decoder drops them.
    static func switchProtocols(
        of channel: any Channel, _ headers: HTTPHeaders, _ frames: [any ChannelHandler], _ lines: LineHandler
    ) {
        let pipeline = channel.pipeline.syncOperations
        let removals: [EventLoopFuture<Void>]
        do {
            removals = try [
                pipeline.context(handlerType: HTTPHandler.self),
                pipeline.context(handlerType: HTTPServerPipelineHandler.self),
                pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self),
                pipeline.context(handlerType: HTTPResponseEncoder.self),
                pipeline.context(handlerType: HTTPBytesHandler.self),
            ].map { pipeline.removeHandler(context: $0) }
        } catch {
            channel.close(promise: nil)
            return
        }
        let bound = NIOLoopBound((frames: frames, lines: lines), eventLoop: channel.eventLoop)
        EventLoopFuture.andAllComplete(removals, on: channel.eventLoop).whenComplete { _ in
            var response = ByteBuffer(string: "HTTP/1.1 101 Switching Protocols\r\n")
            for (name, value) in headers { response.writeString("\(name): \(value)\r\n") }
            response.writeString("\r\n")
            channel.writeAndFlush(response, promise: nil)
            do {
                try channel.pipeline.syncOperations.addHandlers(bound.value.frames + [bound.value.lines])
            } catch {
                channel.close(promise: nil)
            }
        }
    }
}

/// Reports received bytes to the later handlers, because the decoder reports a request only when its head is complete.
final class HTTPBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    struct BytesReceived: Sendable {}

    /// Passes the last byte on separately. If the bytes before it complete a request, the last byte begins another
    /// request, and the second `BytesReceived` reports that.
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
