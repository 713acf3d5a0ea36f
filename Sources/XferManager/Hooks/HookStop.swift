import CLinux
import Glibc

/// A request to stop a hook, which the thread that waits for the hook can poll.
final class HookStop: Sendable {
    /// Readable once the stop was requested.
    let descriptor: Int32

    init() { descriptor = xfer_eventfd_create() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// May be called repeatedly, and before the hook has started.
    func request() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    var isRequested: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0
    }
}
