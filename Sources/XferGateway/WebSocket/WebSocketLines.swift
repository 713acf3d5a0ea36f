import NIOCore
import NIOWebSocket

/// Turns the messages of a WebSocket into lines, and lines into messages, so that both dialects have one implementation
/// of requests, notifications and limits.
///
/// It follows a frame aggregator, which joins fragments.
final class WebSocketLines: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = WebSocketFrame

    private static let lineFeed = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")
    private static let carriageReturn = UInt8(ascii: "\r")

    private var hasSentClose = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        guard !hasSentClose else { return }
        switch frame.opcode {
        case .text: context.fireChannelRead(Self.wrapInboundOut(Self.line(frame.unmaskedData)))
        case .binary: end(.unacceptableData, context: context)
        case .ping:
            // Without this condition a client that reads nothing could make pongs gather.
            guard context.channel.isWritable else { return }
            send(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData), nil, context: context)
        case .connectionClose: end(.normalClosure, context: context)
        default: break
        }
    }

    /// A message as one line. In JSON a raw line break is white space or, within a string, a fault, which the line
    /// must keep.
    static func line(_ message: ByteBuffer) -> ByteBuffer {
        var isInString = false
        var isEscaped = false
        var line = message
        let bytes = message.readableBytesView
        guard bytes.contains(where: { $0 == lineFeed || $0 == carriageReturn }) else {
            line.writeInteger(lineFeed)
            return line
        }
        line.clear(minimumCapacity: bytes.count + 1)
        for byte in bytes {
            if byte == lineFeed || byte == carriageReturn {
                // A tab is as invalid in a string as a line break is, and does not end the line.
                line.writeInteger(isInString ? UInt8(ascii: "\t") : space)
                continue
            }
            if isEscaped {
                isEscaped = false
            } else if isInString, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString.toggle()
            }
            line.writeInteger(byte)
        }
        line.writeInteger(lineFeed)
        return line
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // What is written are whole lines, so the last line feed ends the bytes.
        var bytes = Self.unwrapOutboundIn(data)
        while let end = bytes.readableBytesView.firstIndex(of: Self.lineFeed) {
            let length = end - bytes.readerIndex
            guard let message = bytes.readSlice(length: length) else { break }
            bytes.moveReaderIndex(forwardBy: 1)
            let frame = WebSocketFrame(fin: true, opcode: .text, data: message)
            // The last frame completes the write.
            context.write(Self.wrapOutboundOut(frame), promise: bytes.readableBytes == 0 ? promise : nil)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if !hasSentClose { sendClose(.goingAway, context: context) }
        context.close(mode: mode, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as NIOWebSocketFrameAggregator.Error:
            switch error {
            case .receivedNewFrameWithoutFinishingPrevious, .didReceiveFragmentBeforeReceivingTextOrBinaryFrame:
                end(.protocolError, context: context)
            case .nonFinalFragmentSizeIsTooSmall, .tooManyFragments, .accumulatedFrameSizeIsTooLarge:
                end(.messageTooLarge, context: context)
            }
        case is ClientFrames.Fault: end(.protocolError, context: context)
        default: context.close(promise: nil)
        }
    }

    /// Ends the connection with a reason.
    private func end(_ code: WebSocketErrorCode, context: ChannelHandlerContext) {
        if !hasSentClose { sendClose(code, context: context) }
        context.close(promise: nil)
    }

    private func sendClose(_ code: WebSocketErrorCode, context: ChannelHandlerContext) {
        hasSentClose = true
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        send(WebSocketFrame(fin: true, opcode: .connectionClose, data: data), nil, context: context)
    }

    private func send(_ frame: WebSocketFrame, _ promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        context.writeAndFlush(Self.wrapOutboundOut(frame), promise: promise)
    }
}
