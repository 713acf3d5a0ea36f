import Glibc
import XferTestSupport

/// A blocking HTTP client that shows what was on the wire: the fault server is judged by it.
struct RawClient: ~Copyable {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw PosixError("connect") }
        Patience.bound(descriptor)
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw PosixError("send")
        }
    }

    func get(_ target: String, _ fields: String...) throws {
        try send("GET \(target) HTTP/1.1\r\nHost: x\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n")
    }

    /// How the server's side of the connection looked in the end.
    enum End { case open, closed, reset }

    /// Reads until `count` bytes came or the connection ended.
    func read(_ count: Int = .max) throws -> (bytes: [UInt8], end: End) {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < count {
            let got = recv(descriptor, &chunk, min(chunk.count, count - bytes.count), 0)
            if got == 0 { return (bytes, .closed) }
            if got < 0 && errno == ECONNRESET { return (bytes, .reset) }
            guard got > 0 else { throw PosixError("recv") }
            bytes.append(contentsOf: chunk[..<got])
        }
        return (bytes, .open)
    }

    /// Reads one response head, without its empty line.
    func readHead() throws -> [String] {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let (bytes, end) = try read(1)
            guard end == .open else {
                throw TimedOut("the head broke off: \(String(decoding: head, as: UTF8.self))")
            }
            head += bytes
        }
        return String(decoding: head.dropLast(4), as: UTF8.self).split(separator: "\r\n").map(String.init)
    }
}
