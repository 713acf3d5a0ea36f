import Glibc
import XferTestSupport

/// /dev/full (full(4)): every write fails with ENOSPC.
final class FullDevice: Sendable {
    let descriptor: Int32

    init() throws {
        descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PosixError("open /dev/full") }
    }

    deinit { close(descriptor) }
}
