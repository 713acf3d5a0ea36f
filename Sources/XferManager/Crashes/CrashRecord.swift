import CCrash
import XferModel

/// The record of a fatal signal's handler: the tasks in flight when the process ended.
struct CrashRecord: Hashable, Sendable {
    /// The signal's number.
    let signal: Int32
    let pid: Int64
    /// Nanoseconds since 1970, by the wall clock.
    let time: Int64
    let tasks: Set<TaskID>

    /// Distinguishes records.
    var token: String { "\(pid)-\(time)" }

    /// The length of a record with so many tasks, in bytes.
    static func byteCount(tasks: Int) -> Int { (headerWords + tasks) * MemoryLayout<Int64>.size }

    private static let headerWords = Int(XFER_CRASH_HEADER_WORDS)

    /// Nil unless a handler wrote all of these bytes. A process that ends otherwise leaves zeros.
    init?(_ bytes: [UInt8]) {
        let words = bytes.withUnsafeBytes { raw in
            (0..<raw.count / MemoryLayout<Int64>.size).map {
                raw.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Int64>.size, as: Int64.self)
            }
        }
        guard words.count >= Self.headerWords, words[0] == xfer_crash_magic, let signal = Int32(exactly: words[1]),
            words[4] >= 0, words[4] <= Int64(clamping: words.count - Self.headerWords)
        else { return nil }
        self.signal = signal
        pid = words[2]
        time = words[3]
        tasks = Set(words[Self.headerWords...].prefix(Int(clamping: words[4])).filter { $0 > 0 }.map { TaskID($0) })
    }
}
