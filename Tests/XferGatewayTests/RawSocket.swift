import Glibc
import XferTestSupport

/// A TCP connection of a test, which sends and reads bytes as they are.
final class RawSocket: Sendable {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TimedOut("socket: \(errno)") }
        Patience.bound(descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(clamping: port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { [descriptor] in
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw TimedOut("connect: \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(clamping: MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TimedOut("send: \(errno)") }
            sent += count
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// What has arrived, at least one byte; empty at the end of the connection.
    func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == ECONNRESET { return [] }
        guard count >= 0 else { throw TimedOut("nothing arrived within \(Patience.limit)") }
        return Array(buffer[..<count])
    }

    /// Exactly so many bytes; throws at the end of the connection.
    func receive(exactly wanted: Int) throws -> [UInt8] {
        var found: [UInt8] = []
        while found.count < wanted {
            var buffer = [UInt8](repeating: 0, count: wanted - found.count)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw TimedOut("the connection ended, or nothing arrived") }
            found += buffer[..<count]
        }
        return found
    }

    /// Reads until `isEnough` or the end.
    func read(until isEnough: ([UInt8]) -> Bool) throws -> [UInt8] {
        var found: [UInt8] = []
        while !isEnough(found) {
            let bytes = try receive()
            if bytes.isEmpty { break }
            found += bytes
        }
        return found
    }

    /// Everything until the end of the connection.
    func rest() async throws -> String { try await offThread { try self.readToEnd() } }

    /// The head of an answer.
    func head() async throws -> String { try await offThread { try self.readHead() } }

    /// Reads until the stream of `GatewayWorld` has begun.
    func streamBegins() async throws {
        _ = try await offThread { try self.read { $0.firstRange(of: Array("begun".utf8)) != nil } }
    }

    func readToEnd() throws -> String { String(decoding: try read { _ in false }, as: UTF8.self) }

    func readHead() throws -> String {
        let end = Array("\r\n\r\n".utf8)
        return String(decoding: try read { $0.firstRange(of: end) != nil }, as: UTF8.self)
    }
}
