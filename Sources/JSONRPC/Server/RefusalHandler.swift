import NIOCore
import StrictJSON
import XferModel
import XferSystem

/// Sends a refused client the reason, in the client's own protocol, and closes.
///
/// A client that has sent nothing after `patience` gets the reason as a line of JSON-RPC.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let error: RPCError
    private let status: String
    private let lingering: Duration
    private let patience: TimeAmount
    private var timer: Scheduled<Void>?
    private var isAnswered = false

    /// Creates the handler. `status` is HTTP's status line after the version. Without `patience` the reason is sent at
    /// once.
    init(_ error: RPCError, status: String, patience: TimeAmount, lingering: Duration) {
        self.error = error
        self.status = status
        self.patience = patience
        self.lingering = lingering
    }

    func channelActive(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: patience) {
            self.sendReason(.lines, context: context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let first = Self.unwrapInboundIn(data).readableBytesView.first else { return }
        sendReason(Dialect(firstByte: first), context: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: sendReason(.lines, context: context)
        case is FinishEvent: context.close(promise: nil)
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    private func sendReason(_ dialect: Dialect, context: ChannelHandlerContext) {
        guard !isAnswered else { return }
        isAnswered = true
        timer?.cancel()
        let line = RPCAnswer.error(error, id: .null) + [UInt8(ascii: "\n")]
        var text = ByteBuffer()
        if dialect == .http {
            text.writeString(
                "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(line.count)\r\n")
            text.writeString("Date: \(HTTPDate.format(Clocks.wall()))\r\nConnection: close\r\n\r\n")
        }
        text.writeBytes(line)
        context.writeAndFlush(Self.wrapOutboundOut(text)).assumeIsolated().whenComplete { _ in
            LingeringCloseHandler.close(context.channel, within: self.lingering)
        }
    }
}
