import Glibc
import XferCore
import XferModel

/// Writes the octets of a body to the attempt's sink: into a file at their offset in the representation, directly from
/// libcurl's buffer, or into memory.
struct BodyWriter {
    enum Progress {
        case more
        /// Everything this attempt has to fetch is written; the rest of the body, if any, is not needed.
        case reachedGoal
        case failed(TransferError)
    }

    /// First offset of the representation that is not written.
    private(set) var offset: Int64
    /// Number of octets discarded at the start of the present body.
    private(set) var skipped: Int64 = 0

    private(set) var sink: BodySink
    /// The greatest length of the whole that the task allows, in bytes; nil is unlimited.
    private let maxSize: Int64?
    private var plan: BodyPlan?
    private var memory: [UInt8] = []
    /// True if a spilling sink has exceeded its limit, so that the body is in its file.
    private var hasSpilled = false

    init(sink: BodySink, offset: Int64, maxSize: Int64? = nil) {
        self.sink = sink
        self.maxSize = maxSize
        self.offset = offset
    }

    /// The body if it is kept in memory, else nil.
    var collected: [UInt8]? {
        switch sink {
        case .file: nil
        case .memory: memory
        case .spilling: hasSpilled ? nil : memory
        case .movable: memory
        }
    }

    /// The number of bytes in a spilling sink's file; nil until its limit is exceeded.
    var spilledLength: Int64? { hasSpilled ? offset : nil }

    /// Starts a new body. Throws if its announced end is beyond the sink's limit.
    mutating func begin(_ plan: BodyPlan) throws(TransferError) {
        self.plan = plan
        offset = plan.offset
        skipped = 0
        if plan.offset == 0 {
            memory = []
            hasSpilled = false
        }
        if let end = plan.end, let most, end > most, !waits(for: plan) { throw Self.tooLarge(most) }
    }

    /// True if the body waits for `move`, because it may not fit in memory.
    func waits(for plan: BodyPlan) -> Bool {
        guard case .movable(let limit) = sink else { return false }
        return plan.end.map { $0 > limit } ?? true
    }

    /// Writes the collected bytes into the file, and all further bytes.
    mutating func move(to descriptor: Int32) -> TransferError? {
        guard case .movable = sink else { return nil }
        sink = .file(descriptor: descriptor)
        guard !memory.isEmpty else { return nil }
        let collected = memory
        memory = []
        offset = 0
        return collected.withUnsafeBytes { append($0, to: descriptor) }
    }

    /// Writes the body, which has not begun, to another file.
    mutating func redirect(to descriptor: Int32) {
        guard case .file = sink else { return }
        sink = .file(descriptor: descriptor)
    }

    /// The highest number of bytes of a body that the sink takes; nil means no limit.
    private var most: Int64? {
        switch sink {
        case .file: nil
        case .movable(let limit): limit
        case .memory(let limit): Int64(clamping: limit)
        case .spilling(_, let atMost, _): atMost
        }
    }

    /// Changes the end of this attempt's part of the present body.
    mutating func setGoal(_ goal: Int64) { plan?.goal = goal }

    mutating func write(_ bytes: UnsafeRawBufferPointer, host: @autoclosure () -> String) -> Progress {
        guard let plan else {
            let host = host()
            return .failed(TransferError(.protocolError, "\(host) sent a body without a head", host: host))
        }
        let wanted = min(plan.end ?? .max, plan.goal ?? .max)
        // The common case: the whole chunk is wanted, and more follows.
        if skipped == plan.skip, Int64(bytes.count) < wanted.subtractingSaturated(offset) {
            return store(bytes).map(Progress.failed) ?? .more
        }
        var rest = bytes[...]
        let toSkip = min(Int64(rest.count), plan.skip.subtractingSaturated(skipped))
        skipped += toSkip
        rest = rest.dropFirst(Int(clamping: toSkip))
        let room = wanted.subtractingSaturated(offset)
        let overflows = Int64(rest.count) > room
        if overflows { rest = rest.prefix(Int(clamping: max(0, room))) }
        if let failure = store(UnsafeRawBufferPointer(rebasing: rest)) { return .failed(failure) }
        // The attempt does not wait for what follows its segment.
        if let goal = plan.goal, offset == goal, goal < plan.end ?? .max { return .reachedGoal }
        guard overflows else { return .more }
        // A server may send more than the segment, but not more than it announced.
        if let end = plan.end, offset >= end {
            let host = host()
            return .failed(
                TransferError(.lengthMismatch, "\(host) sent more than the \(end) bytes it announced", host: host))
        }
        return .reachedGoal
    }

    private mutating func store(_ bytes: UnsafeRawBufferPointer) -> TransferError? {
        let end = offset.addingSaturated(Int64(bytes.count))
        if let most, end > most { return Self.tooLarge(most) }
        if let maxSize, end > maxSize { return ResumeRules.tooLarge(maxSize, "it has more", host: nil) }
        switch sink {
        case .memory, .movable:
            memory.append(contentsOf: bytes)
            offset += Int64(bytes.count)
            return nil
        case .file(let descriptor):
            return append(bytes, to: descriptor)
        case .spilling(let limit, _, let descriptor):
            return spill(bytes, beyond: limit, to: descriptor)
        }
    }

    private mutating func spill(_ bytes: UnsafeRawBufferPointer, beyond limit: Int, to descriptor: Int32)
        -> TransferError?
    {
        if hasSpilled { return append(bytes, to: descriptor) }
        if memory.count + bytes.count <= limit {
            memory.append(contentsOf: bytes)
            offset += Int64(bytes.count)
            return nil
        }
        hasSpilled = true
        offset = 0
        let collected = memory
        memory = []
        return collected.withUnsafeBytes { append($0, to: descriptor) } ?? append(bytes, to: descriptor)
    }

    /// The bytes of the body from this offset on, at most `count`.
    func read(at offset: Int64, upTo count: Int) -> [UInt8] {
        let rest = max(0, self.offset.subtractingSaturated(offset))
        let count = min(max(0, count), Int(clamping: rest))
        guard count > 0, offset >= 0 else { return [] }
        let descriptor: Int32
        switch sink {
        case .memory, .movable: return Array(memory.dropFirst(Int(clamping: offset)).prefix(count))
        case .spilling where !hasSpilled: return Array(memory.dropFirst(Int(clamping: offset)).prefix(count))
        case .file(let file), .spilling(_, _, let file): descriptor = file
        }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let more = pread(
                    descriptor, buffer.baseAddress?.advanced(by: done), count - done,
                    off_t(clamping: offset.addingSaturated(Int64(clamping: done))))
                if more < 0, errno == EINTR { continue }
                if more <= 0 { return }
                done += more
            }
        }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> TransferError? {
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(clamping: offset))
            if count < 0 {
                if errno == EINTR { continue }
                return Self.failure(errno)
            }
            offset += Int64(clamping: count)
            done += count
        }
        return nil
    }

    private static func failure(_ code: Int32) -> TransferError {
        let text = String(cString: strerror(code))
        return switch code {
        case ENOSPC, EDQUOT: TransferError(.insufficientSpace, "the partial file cannot grow: \(text)")
        case EFBIG:
            TransferError(
                .fileTooLarge, "the partial file cannot grow: its file system or the process (ulimit -f) allows no more"
            )
        case EROFS: TransferError(.destinationUnavailable, "the partial file cannot be written: \(text)")
        default: TransferError(.diskError, "the partial file cannot be written: \(text)")
        }
    }

    private static func tooLarge(_ limit: Int64) -> TransferError {
        TransferError(.lengthMismatch, "the response is larger than the \(limit) bytes that are allowed for it")
    }
}

/// The body as far as the attempt has received it, over all its hops.
///
/// Invariant: `kept` describes the bytes that `writer` has written.
struct ReceivedBody {
    /// The resume data of the bytes below the writer's offset.
    var kept: ResumeData
    var writer: BodyWriter
    /// The end offset of the attempt's segment, if `TransferEngine.setEnd` has changed it, else nil.
    var end: Int64?
}
