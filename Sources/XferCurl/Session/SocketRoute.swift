import CCurl
import Glibc

/// The two ends of a TCP connection as libcurl reports them, within one of its callbacks.
struct SocketRoute {
    let local: UnsafeMutablePointer<CChar>?
    let localPort: Int32
    let remote: UnsafeMutablePointer<CChar>?
    let remotePort: Int32

    /// True if the descriptor is the connection's socket: no two sockets of a process have the same ends.
    func matches(_ socket: Int32) -> Bool {
        guard let remote, Self.end(of: socket, getsockname)?.port == localPort,
            let peer = Self.end(of: socket, getpeername), peer.port == remotePort
        else { return false }
        return strcmp(peer.text, remote) == 0
    }

    /// The local port of a connection, or nil if the descriptor no longer belongs to a connection.
    static func localPort(of socket: Int32) -> Int32? { end(of: socket, getsockname)?.port }

    /// True if the socket has no pending data, end of file or error. Consumes nothing and does not block.
    static func isQuiet(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
    }

    private struct End {
        var port: Int32
        var text: [CChar]
    }

    private static func end(
        of socket: Int32,
        _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> End? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        return withUnsafeMutableBytes(of: &address) { raw -> End? in
            guard let base = raw.baseAddress, name(socket, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
            else { return nil }
            let family = Int32(clamping: base.assumingMemoryBound(to: sockaddr.self).pointee.sa_family)
            let port: in_port_t
            let offset: Int?
            switch family {
            case AF_INET:
                port = base.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port
                offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
            case AF_INET6:
                port = base.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_port
                offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)
            default: return nil
            }
            guard let offset, inet_ntop(family, base + offset, &text, socklen_t(text.count)) != nil else { return nil }
            return End(port: Int32(clamping: in_port_t(bigEndian: port)), text: text)
        }
    }
}
