import Glibc
import Testing

/// The service manager's end of `NOTIFY_SOCKET`.
final class DatagramReceiver: Sendable {
    let descriptor: Int32

    /// - Parameter name: a path, or an abstract name after `@`.
    init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(bindUnix(descriptor, to: name) == 0)
    }

    deinit { close(descriptor) }

    /// The next datagram, nil when none has come; what was sent is there at once on a Unix socket.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
}

/// bind(2) to a path or, after `@`, to an abstract name; written out here so that it can disagree with the code.
func bindUnix(_ descriptor: Int32, to name: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    let isAbstract = bytes.first == UInt8(ascii: "@")
    if isAbstract { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
}
