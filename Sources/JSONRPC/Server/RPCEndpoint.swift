public import XferSystem

/// An address on which an `RPCServer` listens.
public enum RPCEndpoint: Hashable, Sendable {
    /// A Unix socket that the server makes at an absolute path of at most 107 bytes, with permission bits `mode` and,
    /// if given, `group` as its group. The file is removed at shutdown. A socket file without a listener is replaced; a
    /// socket with a listener is an error, and so is any other file of that name.
    case path(String, mode: UInt32 = 0o600, group: UInt32? = nil)
    /// A listening Unix stream socket of another process (systemd's `LISTEN_FDS`, sd_listen_fds(3)), which the server
    /// closes at shutdown. The server does not remove its file.
    case inherited(descriptor: CInt)
}

extension RPCEndpoint: CustomStringConvertible {
    /// A description for logs: the path, or the number of the inherited descriptor.
    public var description: String {
        switch self {
        case .path(let path, _, _): path
        case .inherited(let descriptor): "inherited descriptor \(descriptor)"
        }
    }
}

/// The reason why an `RPCServer` cannot listen.
public enum RPCServerError: Error, Hashable, Sendable {
    /// The socket has a listener: most likely another daemon.
    case alreadyListening(path: String)
    /// The file is no socket; it is not changed.
    case notASocket(path: String)
    /// The path is not absolute, or longer than a socket address allows (107 bytes, unix(7)).
    case invalidPath(String)
    /// The inherited descriptor is no listening Unix stream socket.
    case unsuitableDescriptor(CInt, expected: String)
    case system(SystemCallError)
    /// `start` was called after `shutdown`.
    case stopped
}

extension RPCServerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .alreadyListening(let path):
            "another process is listening on \(path); if it is xferd, use that one, or give this one another socket"
        case .notASocket(let path): "\(path) exists and is not a socket"
        case .invalidPath(let path): "socket path \"\(path)\" has to be absolute and at most 107 bytes long"
        case .unsuitableDescriptor(let descriptor, let expected): "descriptor \(descriptor) is not \(expected)"
        case .system(let error): "cannot listen: \(error)"
        case .stopped: "the server was shut down"
        }
    }
}
