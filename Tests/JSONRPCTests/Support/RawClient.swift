import Glibc
import NIOConcurrencyHelpers
import StrictJSON
import XferTestSupport

/// A blocking Unix socket that sends exactly the bytes a test gives it. Blocking calls run on threads of their own.
final class RawClient: Sendable {
    private let descriptor: CInt
    private let received = NIOLockedValueBox(Received())

    private struct Received {
        var bytes: [UInt8] = []
        var start = 0
    }

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw PosixError("socket") }
        Patience.bound(descriptor)
        guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
            let error = PosixError("connect \(path)")
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        try await offThread { [self] in
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw PosixError("send") }
                sent += count
            }
        }
    }

    /// The next line without its end; nil at the end of the stream.
    func line() async throws -> String? {
        try await offThread { [self] in
            while true {
                if let line = bufferedLine() { return line }
                guard try receive() else { return nil }
            }
        }
    }

    /// The next `count` bytes.
    func text(_ count: Int) async throws -> String {
        try await offThread { [self] in
            while true {
                if let text = bufferedText(count) { return text }
                guard try receive() else { throw TimedOut("the connection ended before \(count) bytes") }
            }
        }
    }

    /// The next line as JSON.
    func message() async throws -> JSONValue {
        guard let line = try await line() else { throw TimedOut("the connection ended before a line") }
        return try JSONValue(parsing: line)
    }

    /// Everything up to the end of the stream.
    func rest() async throws -> String {
        try await offThread { [self] in
            while try receive() {}
            return received.withLockedValue { received in
                defer { received = Received() }
                return String(decoding: received.bytes[received.start...], as: UTF8.self)
            }
        }
    }

    /// Sends one request and gives its answer, which has to be the next line.
    func call(_ method: String, _ params: JSONValue? = nil) async throws -> JSONValue {
        var request: JSONObject = ["jsonrpc": "2.0", "id": "call", "method": .string(method)]
        if let params { request["params"] = params }
        try await send(JSONValue.object(request).text + "\n")
        return try await message()
    }

    func finishSending() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Closes both directions, as a client that dies does.
    func disconnect() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    private func bufferedLine() -> String? {
        received.withLockedValue { received in
            guard let end = received.bytes[received.start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { received.start = end + 1 }
            return String(decoding: received.bytes[received.start..<end], as: UTF8.self)
        }
    }

    private func bufferedText(_ count: Int) -> String? {
        received.withLockedValue { received in
            guard received.bytes.count - received.start >= count else { return nil }
            defer { received.start += count }
            return String(decoding: received.bytes[received.start..<received.start + count], as: UTF8.self)
        }
    }

    /// Whether anything more came.
    private func receive() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw PosixError("recv") }
        received.withLockedValue { received in
            if received.start == received.bytes.count { received = Received() }
            received.bytes.append(contentsOf: chunk[..<count])
        }
        return count > 0
    }
}

/// Calls `body` with the socket address of `path`.
func withUnixAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    precondition(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path), "path too long: \(path)")
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}
