import CLinux
import Glibc
import XferSystem

/// Finds out whether the kernel can watch one more socket (epoll(7)), before NIO has to.
///
/// NIO traps when epoll_ctl(2) refuses an accepted socket: ENOSPC where the user's processes together watch as many
/// descriptors as `fs.epoll.max_user_watches` allows, ENOMEM where the kernel has no memory. So each new connection is
/// first added to a separate epoll instance on which no thread waits, and closed if that fails. Its place is given back
/// before NIO takes one; only another process of the same user could take the last one in between.
final class WatchProbe: Sendable {
    private let instance: CInt

    init() throws(RPCServerError) {
        instance = xfer_epoll_create()
        guard instance >= 0 else { throw .system(SystemCallError("epoll_create1")) }
    }

    deinit { close(instance) }

    func canWatch(_ socket: CInt) -> Bool {
        guard xfer_epoll_control(instance, EPOLL_CTL_ADD, socket, 0, 0) == 0 else { return false }
        return xfer_epoll_control(instance, EPOLL_CTL_DEL, socket, 0, 0) == 0
    }
}
