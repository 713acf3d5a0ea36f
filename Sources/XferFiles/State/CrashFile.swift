import Glibc
import XferModel

/// The file `crash` in the state directory. A process that dies of a fatal signal writes the tasks that were in flight
/// there, and the next start reads them. It is opened at the start, since a handler of such a signal cannot open files.
public final class CrashFile: Sendable {
    private let path: String
    private let handle: Descriptor

    /// Opens it, or makes it with mode 0600.
    ///
    /// - Throws: `system`.
    public init(in state: StateDirectory) throws(FileError) {
        path = state.path(of: "crash")
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        switch openDescriptor(at: state.directory.descriptor, "crash", flags: flags, mode: 0o600) {
        case .value(let opened): handle = opened
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }

    /// Borrowed: it is open as long as this object lives.
    public var descriptor: Int32 { handle.raw }

    /// Its first `limit` bytes, fewer where it is shorter.
    ///
    /// - Throws: `system`.
    public func read(limit: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let read = try perform("read", on: path) {
                bytes.withUnsafeMutableBytes {
                    pread(handle.raw, $0.baseAddress?.advanced(by: count), limit - count, off_t(clamping: count))
                }
            }
            if read == 0 { break }
            count += read
        }
        return Array(bytes[..<count])
    }

    /// Fills it with `length` zeros, so that a record needs no further space: the disk may be full by then.
    ///
    /// - Throws: `system`.
    public func clear(length: Int) throws(FileError) {
        let zeros = [UInt8](repeating: 0, count: length)
        var offset = 0
        while offset < length {
            offset += try perform("write", on: path) {
                zeros.withUnsafeBytes {
                    pwrite(handle.raw, $0.baseAddress?.advanced(by: offset), length - offset, off_t(clamping: offset))
                }
            }
        }
    }
}
