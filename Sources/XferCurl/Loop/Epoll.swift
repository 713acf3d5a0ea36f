import CLinux
import Glibc

/// One epoll instance (epoll(7)). Each descriptor is registered with a token that comes back with its events.
struct Epoll: ~Copyable {
    struct Ready {
        var token: UInt64
        var mask: UInt32
    }

    private let descriptor: Int32

    init() throws(EngineStartError) {
        descriptor = xfer_epoll_create()
        guard descriptor >= 0 else { throw .system(call: "epoll_create1", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Registers the descriptor or changes its mask. The kernel removes closed descriptors by itself, so it tries both
    /// calls.
    func watch(_ fd: Int32, mask: UInt32, token: UInt64) {
        if xfer_epoll_control(descriptor, EPOLL_CTL_MOD, fd, mask, token) != 0 {
            _ = xfer_epoll_control(descriptor, EPOLL_CTL_ADD, fd, mask, token)
        }
    }

    func forget(_ fd: Int32) { _ = xfer_epoll_control(descriptor, EPOLL_CTL_DEL, fd, 0, 0) }

    /// Waits for events; `milliseconds` −1 waits without a limit, 0 returns at once.
    func wait(milliseconds: Int32, _ body: (Ready) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.batch) { masks in
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.batch) { tokens in
                let count = xfer_epoll_wait(
                    descriptor, masks.baseAddress, tokens.baseAddress, Int32(clamping: Self.batch), milliseconds)
                precondition(count >= 0 || errno == EINTR, "epoll_wait failed with errno \(errno)")
                for index in 0..<max(0, Int(clamping: count)) { body(Ready(token: tokens[index], mask: masks[index])) }
            }
        }
    }

    /// The highest number of events taken per call; the C wrapper's array has as many places.
    private static let batch = 64
}
