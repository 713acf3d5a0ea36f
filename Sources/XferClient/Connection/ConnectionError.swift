import Glibc

/// The reason why a connection cannot be made or has ended.
public enum ConnectionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no socket at this path (ENOENT, ENOTDIR).
    case noSocket(path: String)
    /// The file exists, but no process listens on it, or it is no socket (ECONNREFUSED, ENOTSOCK).
    case notListening(path: String)
    /// This user may not use the path or the daemon's socket (EACCES, EPERM).
    case permissionDenied(path: String)
    /// The path is longer than the address of a Unix socket allows (unix(7): 107 bytes).
    case pathTooLong(path: String)
    /// The daemon closed the connection.
    case closed
    /// The timeout passed while the client was connecting, sending or waiting for a message.
    case timedOut
    /// `interruptDescriptor` became readable.
    case interrupted
    /// A message is longer than this many bytes.
    case messageTooLong(limit: Int)
    /// The received line is no JSON-RPC message.
    case malformedMessage(String)
    /// The daemon on the network cannot be reached, or its certificate is not trusted.
    case server(String, reason: String)
    /// The daemon on the network, or a proxy before it, answers with an HTTP status other than 101: 401 for a token
    /// that it does not know, 503 if it has no room.
    case rejected(String, status: Int, reason: String)
    /// A system call failed.
    case system(call: String, errno: Int32)

    public var description: String {
        switch self {
        case .noSocket(let path): "no socket at \(path)"
        case .notListening(let path): "no daemon listens on \(path)"
        case .permissionDenied(let path): "permission denied for \(path)"
        case .pathTooLong(let path): "the socket's path is longer than 107 bytes: \(path)"
        case .closed: "the daemon closed the connection"
        case .timedOut: "no answer from the daemon in time"
        case .interrupted: "interrupted"
        case .messageTooLong(let limit): "a message is longer than \(limit) bytes"
        case .malformedMessage(let reason): "the daemon sent something that is not JSON-RPC: \(reason)"
        case .server(let server, let reason): "\(server): \(reason)"
        case .rejected(let server, let status, let reason):
            "\(server): it answers with status \(status)" + (reason.isEmpty ? "" : ": \(reason)")
        case .system(let call, let errno): "\(call): \(String(cString: strerror(errno)))"
        }
    }

    /// True if the error may pass because a daemon is starting.
    var mayPass: Bool {
        switch self {
        case .noSocket, .notListening: true
        default: false
        }
    }

    static func connecting(to path: String, errno code: Int32) -> ConnectionError {
        switch code {
        case ENOENT, ENOTDIR: .noSocket(path: path)
        case ECONNREFUSED, ENOTSOCK: .notListening(path: path)
        case EACCES, EPERM: .permissionDenied(path: path)
        default: .system(call: "connect", errno: code)
        }
    }

    /// The error for a failed send(2) or recv(2): `closed` if the daemon has closed the connection.
    static func transferring(_ call: String, errno code: Int32) -> ConnectionError {
        [EPIPE, ECONNRESET].contains(code) ? .closed : .system(call: call, errno: code)
    }
}
