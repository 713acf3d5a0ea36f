import CLinux
import Glibc
import XferModel

/// Repeats a system call while a signal interrupts it; returns its result, or the `errno` it failed with.
func retryingInterrupts<Value: SignedInteger>(_ call: () -> Value) -> SystemCallResult<Value> {
    while true {
        let value = call()
        if value != -1 { return .value(value) }
        if errno != EINTR { return .failure(errno) }
    }
}

enum SystemCallResult<Value> {
    case value(Value)
    case failure(Int32)
}

/// Retries the call like `retryingInterrupts`, and throws `FileError.system`. `operation` completes "cannot … PATH".
@discardableResult
func perform<Value: SignedInteger>(
    _ operation: String, on path: @autoclosure () -> String, _ call: () -> Value
) throws(FileError) -> Value {
    switch retryingInterrupts(call) {
    case .value(let value): return value
    case .failure(let code): throw .system(operation: operation, path: path(), code: code)
    }
}

/// Opens relative to a directory; `path` may be absolute. Always close-on-exec.
///
/// - Parameter closesApart: true if another thread closes it, because that may wait.
func openDescriptor(
    at directory: Int32 = AT_FDCWD, _ path: String, flags: Int32, mode: mode_t = 0, closesApart: Bool = false
) -> SystemCallResult<Descriptor> {
    switch retryingInterrupts({ openat(directory, path, flags | O_CLOEXEC, mode) }) {
    case .value(let raw): .value(Descriptor(owning: raw, closingApart: closesApart))
    case .failure(let code): .failure(code)
    }
}

/// Writes bytes at the beginning of an open file.
func writeAll(_ bytes: [UInt8], to handle: Descriptor, path: @autoclosure () -> String) throws(FileError) {
    var written = 0
    while written < bytes.count {
        let (rest, position) = (bytes.count - written, written)
        written += try perform("write", on: path()) {
            bytes.withUnsafeBytes { pwrite(handle.raw, $0.baseAddress.map { $0 + position }, rest, position) }
        }
    }
}

extension FileIdentity {
    init(_ status: stat) { self.init(device: UInt64(clamping: status.st_dev), inode: UInt64(clamping: status.st_ino)) }

    /// The identity of the file that a path leads to, symbolic links followed; nil when it cannot be reached.
    init?(ofPath path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Calls fstat(2).
func status(of descriptor: Int32, path: @autoclosure () -> String) throws(FileError) -> stat {
    var status = stat()
    try perform("inspect", on: path()) { fstat(descriptor, &status) }
    return status
}

/// Makes the kernel begin to write the file's bytes (sync_file_range(2)) without waiting for them. When all files of a
/// round have begun, the first fsync(2) commits the journal for all of them, and the others find little to do: each
/// would commit it otherwise, since ext4 and XFS allocate blocks when they write. An error here also fails the
/// fsync(2).
func beginWriting(_ handle: Descriptor) {
    _ = xfer_begin_writing(handle.raw)
}
