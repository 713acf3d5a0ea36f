import NIOCore

/// Lines of a socket as byte buffers without their line feeds, in both directions.
enum LineMessages {
    /// The handlers that convert between bytes and lines.
    ///
    /// - Parameter limit: the highest number of bytes of a received line; a longer one is a `PayloadTooLargeError`.
    static func handlers(limit: Int) -> [any ChannelHandler] {
        [ByteToMessageHandler(Decoder(), maximumBufferSize: limit + 1), MessageToByteHandler(Encoder())]
    }

    private struct Decoder: NIOSingleStepByteToMessageDecoder {
        typealias InboundOut = ByteBuffer

        /// The number of bytes from the reader index on that contain no line feed.
        private var searched = 0

        mutating func decode(buffer: inout ByteBuffer) -> ByteBuffer? {
            let rest = buffer.readableBytesView.dropFirst(searched)
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                searched = buffer.readableBytes
                return nil
            }
            searched = 0
            let line = buffer.readSlice(length: end - buffer.readerIndex)
            buffer.moveReaderIndex(forwardBy: 1)
            return line
        }

        mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) -> ByteBuffer? { decode(buffer: &buffer) }
    }

    private struct Encoder: MessageToByteEncoder {
        typealias OutboundIn = ByteBuffer

        func encode(data: ByteBuffer, out: inout ByteBuffer) {
            out.writeImmutableBuffer(data)
            out.writeInteger(UInt8(ascii: "\n"))
        }
    }
}
