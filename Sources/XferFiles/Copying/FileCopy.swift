import CLinux
import Glibc
import XferModel

/// Copies the first bytes of a file to another file. Where the file system can, the two files share blocks (a reflink):
/// that costs almost nothing, and a write to one file does not change the other. Otherwise the bytes are copied. A hard
/// link is not used, because the receiver of the copy may change it.
///
/// Blocks for as long as copying takes: run it on a `BlockingPool`. Nothing is durable before the target is synced.
public enum FileCopy {
    /// The way in which the bytes were copied.
    public enum Means: Hashable, Sendable {
        /// ioctl_ficlonerange(2): the files share blocks.
        case reflink
        /// copy_file_range(2), or read and write.
        case copy
    }

    /// Copies the first `length` bytes of `source` to `target`. `target` is an empty file that is open for writing.
    /// `source` is open for reading and must not change meanwhile.
    ///
    /// - Parameters:
    ///   - length: bytes, at least 0.
    ///   - isCancelled: called at the beginning and then about every 8 MiB.
    ///   - onProgress: called as often, with the number of bytes that are copied; not for a reflink.
    /// - Throws: `lengthMismatch` if the source is shorter than `length`, `cancelled`, `system`. After an error the
    ///   target's content is undefined.
    public static func copy(
        from source: Int32, to target: Int32, length: Int64, isCancelled: () -> Bool = { false },
        onProgress: (Int64) -> Void = { _ in }
    ) throws(FileError) -> Means {
        guard length > 0 else { return .copy }
        if isCancelled() { throw .cancelled }
        if xfer_clone_file(target, source) == 0 {
            let found = Int64(clamping: try status(of: target, path: pathOfDescriptor(target)).st_size)
            guard found >= length else {
                throw .lengthMismatch(path: pathOfDescriptor(source), expected: length, found: found)
            }
            try perform("cut", on: pathOfDescriptor(target)) { ftruncate(target, Int(clamping: length)) }
            return .reflink
        }
        let copied = try copyInKernel(from: source, to: target, length: length, isCancelled, onProgress)
        try copyByHand(from: source, to: target, from: copied, to: length, isCancelled, onProgress)
        return .copy
    }

    /// The number of bytes between two calls of `isCancelled`.
    private static let stretch: Int64 = 8 << 20

    /// Copies as far as copy_file_range(2) can between these two files. Returns the first offset that was not copied.
    private static func copyInKernel(
        from source: Int32, to target: Int32, length: Int64, _ isCancelled: () -> Bool,
        _ onProgress: (Int64) -> Void
    ) throws(FileError) -> Int64 {
        var offset: Int64 = 0
        while offset < length {
            if isCancelled() { throw .cancelled }
            onProgress(offset)
            let wanted = Int(clamping: min(stretch, length - offset))
            let position = Int(clamping: offset)
            switch retryingInterrupts({ xfer_copy_range(source, target, position, UInt(clamping: wanted)) }) {
            // 0 means the end of the source, but some file systems return 0 wrongly (copy_file_range(2), BUGS).
            // `copyByHand` continues here and finds out whether the source ends.
            case .value(let count) where count <= 0: return offset
            case .value(let count): offset += Int64(clamping: count)
            case .failure(let code) where [ENOSPC, EDQUOT, EIO, EFBIG].contains(code):
                throw .system(operation: "write", path: pathOfDescriptor(target), code: code)
            case .failure: return offset
            }
        }
        return offset
    }

    private static func copyByHand(
        from source: Int32, to target: Int32, from start: Int64, to end: Int64, _ isCancelled: () -> Bool,
        _ onProgress: (Int64) -> Void
    ) throws(FileError) {
        guard start < end else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset = start
        var nextQuestion = start
        while offset < end {
            if offset >= nextQuestion {
                if isCancelled() { throw .cancelled }
                onProgress(offset)
                nextQuestion = offset.addingSaturated(stretch)
            }
            let wanted = Int(clamping: min(Int64(buffer.count), end - offset))
            let position = Int(clamping: offset)
            let count = try perform("read", on: pathOfDescriptor(source)) {
                pread(source, buffer.baseAddress, wanted, position)
            }
            guard count > 0 else {
                throw .lengthMismatch(path: pathOfDescriptor(source), expected: end, found: offset)
            }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: target, at: offset)
            offset += Int64(clamping: count)
        }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, to target: Int32, at offset: Int64
    ) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let (rest, position) = (bytes.count - written, Int(clamping: offset).addingSaturated(written))
            written += try perform("write", on: pathOfDescriptor(target)) {
                pwrite(target, bytes.baseAddress.map { $0 + written }, rest, position)
            }
        }
    }
}

/// The path of the file that a descriptor refers to, for messages (proc_pid_fd(5)).
private func pathOfDescriptor(_ descriptor: Int32) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
    guard count > 0 else { return "descriptor \(descriptor)" }
    return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
