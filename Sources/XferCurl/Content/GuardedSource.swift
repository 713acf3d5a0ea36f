import Glibc
import XferModel

/// Bytes to be sent, from memory or from a file that must not change meanwhile.
struct GuardedSource {
    private enum Origin {
        case bytes([UInt8])
        case file(AttemptFile)
    }

    private let origin: Origin
    /// The length in bytes.
    let length: Int64

    init(_ bytes: [UInt8]) {
        origin = .bytes(bytes)
        length = Int64(bytes.count)
    }

    init(_ file: AttemptFile) {
        origin = .file(file)
        length = file.length
    }

    /// Checks that the file is unchanged and contains the range.
    func check() throws(TransferError) {
        guard case .file(let file) = origin else { return }
        guard file.offset >= 0, file.length >= 0, file.length <= file.source.length.subtractingSaturated(file.offset)
        else {
            throw Self.changed(file, "it has \(file.source.length) bytes, too few for the request")
        }
        try check(file)
    }

    /// Fills the buffer from this position on, as far as there is data; returns how many bytes may be sent. A file is
    /// checked after it was read, so that bytes of another version are never sent.
    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        let count = Int(clamping: min(Int64(buffer.count), max(0, length.subtractingSaturated(position))))
        guard count > 0 else { return 0 }
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        switch origin {
        case .bytes(let bytes):
            bytes.withUnsafeBytes {
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(clamping: position)...].prefix(count)))
            }
        case .file(let file):
            try Self.fill(target, from: file, at: file.offset.addingSaturated(position))
            try check(file)
        }
        return count
    }

    private static func fill(
        _ target: UnsafeMutableRawBufferPointer, from file: AttemptFile, at offset: Int64
    ) throws(TransferError) {
        var rest = target[...]
        while !rest.isEmpty {
            let count = pread(
                file.descriptor, UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress, rest.count,
                off_t(clamping: offset) + rest.startIndex)
            if count == 0 { throw changed(file, "it ends too early") }
            if count < 0 {
                if errno == EINTR { continue }
                throw unreadable(file, errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    private func check(_ file: AttemptFile) throws(TransferError) {
        var facts = stat()
        guard fstat(file.descriptor, &facts) == 0 else { throw Self.unreadable(file, errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw TransferError(
                .bodyNotRewindable, "\(file.source.path) is not a regular file and cannot be sent a second time")
        }
        let source = file.source
        if Int64(clamping: facts.st_size) != source.length {
            throw Self.changed(file, "its size was \(source.length) bytes and is \(facts.st_size)")
        }
        let modified = FileTime.nanoseconds(seconds: facts.st_mtim.tv_sec, nanoseconds: facts.st_mtim.tv_nsec)
        if modified != source.modifiedAt {
            throw Self.changed(file, "it was modified")
        }
        if FileIdentity(device: UInt64(clamping: facts.st_dev), inode: UInt64(clamping: facts.st_ino))
            != source.identity
        {
            throw Self.changed(file, "it is another file")
        }
    }

    private static func changed(_ file: AttemptFile, _ detail: String) -> TransferError {
        TransferError(.sourceFileChanged, "\(file.source.path) changed: \(detail)")
    }

    private static func unreadable(_ file: AttemptFile, _ code: Int32) -> TransferError {
        TransferError(.diskError, "\(file.source.path) cannot be read: \(String(cString: strerror(code)))")
    }
}
