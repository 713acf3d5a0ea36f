import JSONRPC
import NIOCore
import NIOWebSocket

/// Checks a client's frames against the rules for clients (RFC 6455 §5.1, §5.2), and reports messages that are not
/// complete.
///
/// It follows the decoder, and precedes the aggregator, whose frames have lost their masks.
final class ClientFrames: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    enum Fault: Error, CustomStringConvertible {
        case unmasked
        /// A reserved bit is set, but no extension that defines it was negotiated.
        case reservedBits
        /// The opcode is not defined (RFC 6455 §11.8).
        case unknownOpcode

        var description: String {
            switch self {
            case .unmasked: "a client's frame has no mask"
            case .reservedBits: "a frame has reserved bits"
            case .unknownOpcode: "a frame has an unknown opcode"
            }
        }
    }

    private var isFaulty = false
    /// The number of bytes of a message's frames before its last one; nil between messages.
    private var fragments: Int?
    /// The number of bytes of a frame that is not complete; nil between frames.
    private var partOfFrame: Int?
    private var reported: Int?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isFaulty else { return }
        let frame = Self.unwrapInboundIn(data)
        if let fault = Self.fault(of: frame) {
            isFaulty = true
            context.fireErrorCaught(fault)
            return
        }
        switch frame.opcode {
        case .text, .binary, .continuation: fragments = frame.fin ? nil : (fragments ?? 0) + frame.length
        default: break
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? FrameCut else { return context.fireUserInboundEventTriggered(event) }
        partOfFrame = event.count
        let kept = fragments == nil && partOfFrame == nil ? nil : (fragments ?? 0) + (partOfFrame ?? 0)
        guard kept != reported else { return }
        reported = kept
        context.fireUserInboundEventTriggered(InputCut(kept))
    }

    private static func fault(of frame: WebSocketFrame) -> Fault? {
        if frame.maskKey == nil { return .unmasked }
        if frame.rsv1 || frame.rsv2 || frame.rsv3 { return .reservedBits }
        switch frame.opcode {
        case .continuation, .text, .binary, .connectionClose, .ping, .pong: return nil
        default: return .unknownOpcode
        }
    }
}

/// Reports where the bytes that were received last end.
private struct FrameCut: Sendable {
    /// The number of bytes of a frame that is not complete; nil if the bytes end with a frame.
    let count: Int?
}

/// Decodes frames, and reports after each step whether the bytes end within one.
struct ClientFrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = WebSocketFrame

    private let decoder: WebSocketFrameDecoder

    init(maxFrameSize: Int) { decoder = WebSocketFrameDecoder(maxFrameSize: maxFrameSize) }

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        let count = buffer.readableBytes
        let state = try decoder.decode(context: context, buffer: &buffer)
        switch state {
        case .continue: context.fireUserInboundEventTriggered(FrameCut(count: nil))
        case .needMoreData:
            // The decoder has taken these bytes as the beginning of a frame, or leaves them until there are more.
            if count > 0 { context.fireUserInboundEventTriggered(FrameCut(count: count)) }
        }
        return state
    }
}
