import NIOCore

/// Closes a connection whose client may still be sending: it shuts the server's side, then reads and drops input until
/// the client ends or the time has passed.
///
/// Closing at once would break a client that writes its whole message before it reads (EPIPE), and hide the answer with
/// the reason.
final class LingeringCloseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let time: TimeAmount
    private var deadline: Scheduled<Void>?

    private init(time: TimeAmount) { self.time = time }

    /// Ends `channel`, from its event loop, after everything written to it was sent.
    static func close(_ channel: any Channel, within time: Duration) {
        let handler = LingeringCloseHandler(time: TimeAmount(time))
        do {
            // At the first position, so that no other handler sees or stops the rest of the input.
            try channel.pipeline.syncOperations.addHandler(handler, position: .first)
            channel.close(mode: .output, promise: nil)
        } catch {
            channel.close(promise: nil)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.channel.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func channelReadComplete(context: ChannelHandlerContext) { context.read() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
        if event is FinishEvent { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }
}
