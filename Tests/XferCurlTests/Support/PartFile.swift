import Glibc
import XferTestSupport

/// An open file for an attempt to write to, closed and removed with the last reference.
final class PartFile: Sendable {
    let descriptor: Int32
    private let directory: TemporaryDirectory

    init(holding bytes: [UInt8] = []) throws {
        directory = try TemporaryDirectory("xfer-engine")
        let path = directory.file("part")
        try FileTree.write(bytes, to: path)
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw PosixError("open \(path)") }
    }

    deinit { close(descriptor) }

    var bytes: [UInt8] { get throws { try FileTree.read(directory.file("part")) } }

    /// What a manager does before `proceed`.
    func truncate(to length: Int64 = 0) { ftruncate(descriptor, off_t(length)) }
}
