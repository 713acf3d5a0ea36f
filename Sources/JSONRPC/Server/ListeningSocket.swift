import CLinux
import Glibc
import XferSystem

/// A listening Unix stream socket, from a path or from an inherited descriptor.
struct ListeningSocket {
    let descriptor: CInt
    /// The file made for it, to be removed afterwards.
    let file: SocketFile?

    /// Connections that the kernel keeps until they are accepted; more are refused or have to wait (listen(2)).
    private static let backlog: CInt = 512

    init(_ endpoint: RPCEndpoint) throws(RPCServerError) {
        switch endpoint {
        case .path(let path, let mode, let group): try self.init(path: path, mode: mode, group: group)
        case .inherited(let descriptor): try self.init(inherited: descriptor)
        }
    }

    private init(path: String, mode: UInt32, group: UInt32?) throws(RPCServerError) {
        guard let address = UnixAddress(path: path) else { throw .invalidPath(path) }
        try Self.removeStaleSocket(path, at: address)
        let socket = try UnixAddress.makeSocket()
        do throws(RPCServerError) {
            file = try Self.listen(on: socket, path, at: address, mode: mode, group: group)
        } catch {
            _ = Glibc.close(socket)
            throw error
        }
        descriptor = socket
    }

    private static func listen(
        on socket: CInt, _ path: String, at address: UnixAddress, mode: UInt32, group: UInt32?
    ) throws(RPCServerError) -> SocketFile? {
        guard address.withSocketAddress({ bind(socket, $0, $1) }) == 0 else {
            throw .system(SystemCallError("bind", on: path))
        }
        let file = SocketFile(path: path)
        do throws(RPCServerError) {
            // No client can connect before listen(), so the file may have other permissions until then.
            if let group, lchown(path, .max, group) != 0 { throw .system(SystemCallError("chown", on: path)) }
            guard chmod(path, mode) == 0 else { throw .system(SystemCallError("chmod", on: path)) }
            guard Glibc.listen(socket, backlog) == 0 else { throw .system(SystemCallError("listen", on: path)) }
        } catch {
            file?.remove()
            throw error
        }
        return file
    }

    private init(inherited descriptor: CInt) throws(RPCServerError) {
        let expected = "a listening Unix stream socket"
        let options: [(name: CInt, value: CInt)] = [
            (SO_DOMAIN, AF_UNIX), (SO_TYPE, CInt(SOCK_STREAM.rawValue)), (SO_ACCEPTCONN, 1),
        ]
        for option in options {
            var value: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            guard getsockopt(descriptor, SOL_SOCKET, option.name, &value, &length) == 0, value == option.value else {
                throw .unsuitableDescriptor(descriptor, expected: expected)
            }
        }
        // systemd passes it without close-on-exec, and blocking.
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
        else { throw .system(SystemCallError("fcntl", on: "descriptor \(descriptor)")) }
        self.descriptor = descriptor
        file = nil
    }

    /// Removes a socket file without a listener. It is an error if the socket has a listener, or if the file is
    /// anything else.
    private static func removeStaleSocket(_ path: String, at address: UnixAddress) throws(RPCServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw .system(SystemCallError("lstat", on: path))
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        switch try address.probe() {
        // EAGAIN: a busy listener's queue is full. EPROTOTYPE: a datagram socket of another service.
        case 0, EAGAIN, EPROTOTYPE: throw .alreadyListening(path: path)
        case ENOENT: return
        case ECONNREFUSED:
            guard unlink(path) == 0 || errno == ENOENT else { throw .system(SystemCallError("unlink", on: path)) }
        case let code: throw .system(SystemCallError("connect", on: path, code: code))
        }
    }
}

/// A socket's file, identified by its inode, so that another file of its name is not removed.
struct SocketFile: Sendable {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        device = status.st_dev
        inode = status.st_ino
    }

    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
        _ = unlink(path)
    }
}

extension UnixAddress {
    /// Tries to connect; 0 if the socket has a listener, else the errno.
    fileprivate func probe() throws(RPCServerError) -> CInt {
        let descriptor = try Self.makeSocket()
        defer { _ = Glibc.close(descriptor) }
        return withSocketAddress { connect(descriptor, $0, $1) } == 0 ? 0 : errno
    }

    /// A Unix stream socket, non-blocking and closed on exec.
    fileprivate static func makeSocket() throws(RPCServerError) -> CInt {
        let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, CInt(clamping: flags), 0)
        guard descriptor >= 0 else { throw .system(SystemCallError("socket")) }
        return descriptor
    }
}

/// Checks that the kernel can watch one more socket (epoll(7)), before NIO has to.
///
/// NIO traps when epoll_ctl(2) refuses an accepted socket: ENOSPC where the user's processes together watch as many
/// descriptors as `fs.epoll.max_user_watches` allows, ENOMEM where the kernel has no memory. So each new connection is
/// first added to a separate epoll instance on which no thread waits, and closed if that fails. It is removed there
/// before NIO adds it; only another process of the same user could take the last place in between.
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
