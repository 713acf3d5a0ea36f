import Glibc
import XferModel

/// The file `crash` in the state directory. When a fatal signal ends the process, the signal handler writes the tasks
/// in flight to this file, and the next start of the service reads them. The file is opened at the start, so that the
/// handler only has to write.
public final class CrashFile: Sendable {
    private static let name = "crash"

    private let path: String
    private let handle: Descriptor

    /// True if a service has worked in this directory before: every service creates the file.
    public static func exists(in state: StateDirectory) -> Bool { access(state.path(of: name), F_OK) == 0 }

    /// Opens the file, or creates it with mode 0600.
    ///
    /// - Throws: `system`.
    public init(in state: StateDirectory) throws(FileError) {
        path = state.path(of: Self.name)
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        switch openDescriptor(at: state.directory.descriptor, Self.name, flags: flags, mode: 0o600) {
        case .value(let opened): handle = opened
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }

    /// The file's descriptor. This object owns it and closes it in the end; do not close it.
    public var descriptor: Int32 { handle.raw }

    /// The first `limit` bytes of the file, or all bytes if it is shorter.
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

    /// Overwrites the first `length` bytes with zeros. A later record of up to `length` bytes then needs no disk space,
    /// even if the disk is full.
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
