import CCodings
import XferModel

/// The decoder of one coding, used by one thread at a time.
final class DecodingStage {
    let coding: ContentCoding
    /// The number of bytes that the decoder has produced so far.
    private(set) var made: Int64 = 0
    private let decoder: UnsafeMutablePointer<xfer_decoder>
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoding.slice, alignment: 16)
    private var count = 0

    /// - Throws: `unknown` if the coding's library is missing.
    init(_ coding: ContentCoding) throws(ContentDecodingError) {
        let number =
            switch coding {
            case .gzip: xfer_coding_gzip
            case .deflate: xfer_coding_deflate
            case .brotli: xfer_coding_brotli
            case .zstd: xfer_coding_zstd
            }
        guard let decoder = xfer_decoder_new(Int32(clamping: number)) else {
            buffer.deallocate()
            throw .unknown(coding)
        }
        self.coding = coding
        self.decoder = decoder
    }

    deinit {
        xfer_decoder_free(decoder)
        buffer.deallocate()
    }

    /// The output of the last `step`; valid until the next `step`.
    var output: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// True if the input may end here.
    var mayEnd: Bool { decoder.pointee.may_end }

    /// Consumes bytes from the front of `input` and produces at most `ContentDecoding.slice` bytes of output. Returns
    /// true if all input was consumed and all its output produced, and false if another step is needed.
    func step(_ input: inout UnsafeRawBufferPointer) throws(ContentDecodingError) -> Bool {
        var next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var left = input.count
        let room = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        count = 0
        let result = xfer_decoder_step(decoder, &next, &left, room, buffer.count, &count)
        made += Int64(clamping: count)
        let taken = input.count - left
        input = UnsafeRawBufferPointer(rebasing: input[taken...])
        switch Int(clamping: result) {
        case Int(xfer_decoder_wants_input): return true
        // Without progress the caller would loop for ever, so a step that consumes and produces nothing is an error.
        case Int(xfer_decoder_has_output) where taken > 0 || count > 0: return false
        default: throw .malformed(coding)
        }
    }
}
