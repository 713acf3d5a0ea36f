import XferModel

/// Splits a hook's output into lines for the log, within limits. Output beyond them is discarded, so that a hook that
/// floods its output costs no more than reading it.
public struct HookOutput: Sendable {
    public struct Limits: Hashable, Sendable {
        /// The highest number of bytes of one line; the rest of a longer one is left out.
        public var lineBytes = 1024
        /// The highest number of bytes of one run.
        public var totalBytes = 65_536

        public init() {}
    }

    private let limits: Limits
    private var line: [UInt8] = []
    private var isCut = false
    private var taken = 0
    /// The number of bytes that were left out, ends of long lines included.
    public private(set) var discarded: Int64 = 0

    public init(_ limits: Limits = Limits()) { self.limits = limits }

    /// Adds the output that was read; returns the lines that are complete now, without their ends.
    public mutating func onBytes(_ bytes: some Collection<UInt8>) -> [String] {
        guard taken < limits.totalBytes else {
            discarded = discarded.addingSaturated(Int64(bytes.count))
            return []
        }
        var lines: [String] = []
        for byte in bytes {
            guard taken < limits.totalBytes else {
                discarded += 1
                continue
            }
            taken += 1
            if byte == UInt8(ascii: "\n") {
                lines.append(removeLine())
            } else if line.count < limits.lineBytes {
                line.append(byte)
            } else {
                isCut = true
                discarded += 1
            }
        }
        if taken == limits.totalBytes, !line.isEmpty { lines.append(removeLine()) }
        return lines
    }

    /// Ends the output: returns the last line if it has no line feed.
    public mutating func onEnd() -> String? { line.isEmpty ? nil : removeLine() }

    private mutating func removeLine() -> String {
        defer {
            line.removeAll(keepingCapacity: true)
            isCut = false
        }
        return String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")
    }
}
