import Glibc
public import XferModel

/// Decodes the content codings of a received body, within bounds.
///
/// Blocks until it is done: run it on a `BlockingPool`, never on the loop that moves bytes. It works in slices, so a
/// small input never produces more than the bounds allow.
public struct ContentDecoding: Sendable {
    /// The input.
    public enum Source: Sendable {
        case bytes([UInt8])
        /// A file open for reading, of which the first `length` bytes are decoded.
        case file(descriptor: Int32, length: Int64)

        var length: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, let length): length
            }
        }
    }

    /// The decoded content.
    public enum Content: Hashable, Sendable {
        case bytes([UInt8])
        /// The content is too large for memory and is in the target file.
        case file(length: Int64)
    }

    /// Bounds of the output.
    public struct Limits: Hashable, Sendable {
        /// The highest number of bytes of the content that stay in memory; a larger content goes to the file
        /// completely.
        public var inMemory: Int
        /// The highest number of bytes of the content, and of each step between two codings.
        public var bytes: Int64
        /// The highest number of decoded bytes for each byte received, at least 1. Not checked for a content of up to
        /// `unquestioned` bytes.
        public var ratio: Int64

        /// The length in bytes up to which a content's ratio is not checked: small compared with the output of any
        /// decompression bomb.
        public static let unquestioned: Int64 = 1 << 20

        public init(inMemory: Int, bytes: Int64, ratio: Int64) {
            self.inMemory = inMemory
            self.bytes = bytes
            self.ratio = ratio
        }
    }

    /// The codings in the order in which the sender applied them.
    public let codings: [ContentCoding]
    public let limits: Limits
    /// The highest number of bytes that are produced at once, before the bounds are checked.
    public static let slice = 64 << 10

    public init(_ codings: [ContentCoding], limits: Limits) {
        self.codings = codings
        self.limits = limits
    }

    /// Decodes a received body.
    ///
    /// - Parameters:
    ///   - target: an empty file open for writing, for content that is too large for memory.
    ///   - isCancelled: called before each slice.
    public func run(
        _ source: Source, into target: Int32, isCancelled: () -> Bool = { false }
    ) throws(ContentDecodingError) -> Content {
        var stages: [DecodingStage] = []
        for coding in codings.reversed() { stages.append(try DecodingStage(coding)) }
        var work = Work(stages: stages, limits: limits, received: source.length, target: target)
        try Self.read(source) { (piece) throws(ContentDecodingError) in
            if isCancelled() { throw .file(.cancelled) }
            try work.feed(piece, to: 0, isCancelled)
        }
        for stage in stages where !stage.mayEnd { throw .truncated(stage.coding) }
        return work.content
    }

    private static func read(
        _ source: Source, _ body: (UnsafeRawBufferPointer) throws(ContentDecodingError) -> Void
    ) throws(ContentDecodingError) {
        switch source {
        case .bytes(let bytes):
            var offset = 0
            while offset < bytes.count {
                let piece = Array(bytes[offset..<min(offset + slice, bytes.count)])
                try lend(piece, body)
                offset += piece.count
            }
        case .file(let descriptor, let length):
            var offset: Int64 = 0
            while offset < length {
                let piece = try read(
                    descriptor, at: offset, upTo: Int(clamping: min(Int64(clamping: slice), length - offset)))
                guard !piece.isEmpty else {
                    throw .file(.lengthMismatch(path: "the answer", expected: length, found: offset))
                }
                try lend(piece, body)
                offset += Int64(piece.count)
            }
        }
    }

    private static func read(_ descriptor: Int32, at offset: Int64, upTo count: Int) throws(ContentDecodingError)
        -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: count)
        do throws(FileError) {
            let found = try perform("read", on: "the answer") {
                bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(clamping: offset)) }
            }
            bytes.removeSubrange(found...)
            return bytes
        } catch {
            throw .file(error)
        }
    }

    private static func lend(
        _ piece: [UInt8], _ body: (UnsafeRawBufferPointer) throws(ContentDecodingError) -> Void
    ) throws(ContentDecodingError) {
        let result = piece.withUnsafeBytes { bytes in
            Result { () throws(ContentDecodingError) in try body(bytes) }
        }
        try result.get()
    }

    /// The output so far.
    private struct Work {
        let stages: [DecodingStage]
        let limits: Limits
        let received: Int64
        let target: Int32
        private var memory: [UInt8] = []
        /// The number of bytes in the file, once there are too many for memory.
        private var written: Int64?

        init(stages: [DecodingStage], limits: Limits, received: Int64, target: Int32) {
            self.stages = stages
            self.limits = limits
            self.received = received
            self.target = target
        }

        var content: Content { written.map { Content.file(length: $0) } ?? .bytes(memory) }

        /// Passes a piece to the stage with this number, its output to the next stage, and the last stage's to the
        /// content.
        mutating func feed(
            _ piece: UnsafeRawBufferPointer, to number: Int, _ isCancelled: () -> Bool
        ) throws(ContentDecodingError) {
            guard !piece.isEmpty else { return }
            guard number < stages.count else { return try collect(piece) }
            let stage = stages[number]
            var rest = piece
            while true {
                let isDone = try stage.step(&rest)
                if isCancelled() { throw .file(.cancelled) }
                try check(stage)
                try feed(stage.output, to: number + 1, isCancelled)
                if isDone { return }
            }
        }

        private func check(_ stage: DecodingStage) throws(ContentDecodingError) {
            if stage.made > limits.bytes { throw .tooLarge(limits.bytes) }
            let (most, isEndless) = received.multipliedReportingOverflow(by: max(1, limits.ratio))
            if !isEndless, stage.made > max(most, Limits.unquestioned) {
                throw .tooDense(stage.coding, ratio: limits.ratio, received: received)
            }
        }

        private mutating func collect(_ piece: UnsafeRawBufferPointer) throws(ContentDecodingError) {
            if written == nil, memory.count + piece.count <= limits.inMemory {
                memory.append(contentsOf: piece)
                return
            }
            if written == nil {
                written = 0
                let collected = memory
                memory = []
                let result = collected.withUnsafeBytes { bytes in
                    Result { () throws(ContentDecodingError) in try write(bytes) }
                }
                try result.get()
            }
            try write(piece)
        }

        private mutating func write(_ piece: UnsafeRawBufferPointer) throws(ContentDecodingError) {
            var done = 0
            while done < piece.count {
                let (start, count, offset) = (piece.baseAddress.map { $0 + done }, piece.count - done, written ?? 0)
                let target = target
                do throws(FileError) {
                    let more = try perform("write", on: "the answer") {
                        pwrite(target, start, count, off_t(clamping: offset))
                    }
                    done += more
                    written = offset + Int64(clamping: more)
                } catch {
                    throw .file(error)
                }
            }
        }
    }
}

/// The reason why an answer cannot be decoded.
public enum ContentDecodingError: Error, Hashable, Sendable {
    /// The input ends before the stream does.
    case truncated(ContentCoding)
    /// The input is not valid in this coding, or continues after the stream's end.
    case malformed(ContentCoding)
    /// The coding is not supported here.
    case unknown(ContentCoding)
    case tooLarge(Int64)
    case tooDense(ContentCoding, ratio: Int64, received: Int64)
    case file(FileError)

    /// The failure of the task whose response it was.
    public func transferError(host: String) -> TransferError {
        switch self {
        case .truncated(let coding):
            TransferError(
                .shortBody, "\(host) sent a body that ends before its content coding \(coding.rawValue) does",
                host: host)
        case .malformed(let coding):
            TransferError(
                .protocolError, "\(host) sent a body that is not in its content coding \(coding.rawValue)",
                isRetriable: false, host: host)
        case .unknown(let coding):
            TransferError(
                .protocolError,
                "no installed library supports the content coding \(coding.rawValue); do not request it from \(host)",
                isRetriable: false, host: host)
        case .tooLarge(let limit):
            TransferError(
                .lengthMismatch, "the response is larger than the \(limit) bytes that are allowed for it", host: host)
        case .tooDense(let coding, let ratio, let received):
            TransferError(
                .expansionLimit,
                "\(received) bytes of \(host) in the content coding \(coding.rawValue) decode to more than \(ratio) "
                    + "times as many (results.max_ratio)",
                host: host)
        case .file(let error): error.transferError
        }
    }
}

extension ContentDecodingError: CustomStringConvertible {
    public var description: String { transferError(host: "the server").message }
}
