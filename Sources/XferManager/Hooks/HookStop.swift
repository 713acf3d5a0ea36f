import CLinux
import Glibc

/// The wish that a hook ends now, seen by the thread that waits for it.
final class HookStop: Sendable {
    /// Readable once the wish was made.
    let descriptor: Int32

    init() { descriptor = xfer_eventfd_create() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// May be called again, and before the hook has started.
    func request() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    var isRequested: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0
    }
}
