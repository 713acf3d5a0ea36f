import Glibc
import NIOConcurrencyHelpers

/// A Unix socket as the kernel offers it, for tests that send what no proper client would.
///
/// Blocking calls run on a thread of their own.
public final class UnixSocket: Sendable {
    private let descriptor: Int32
    private let buffered = NIOLockedValueBox<[UInt8]>([])

    /// Connects to a listening stream socket.
    public init(connectedTo path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard try Self.withAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
            let error = PosixError("connect \(path)")
            close(descriptor)
            throw error
        }
        // A failing test must not hang for ever.
        Patience.bound(descriptor, by: Patience.long)
    }

    deinit { close(descriptor) }

    /// Sends all bytes; throws when the other side is gone.
    public func send(_ bytes: some Collection<UInt8> & Sendable) async throws {
        let all = Array(bytes)
        try await offThread { [descriptor] in
            var rest = all[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw PosixError("send") }
                rest = rest.dropFirst(count)
            }
        }
    }

    public func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// The next line without its end; nil when the other side has closed.
    public func readLine() async throws -> String? {
        try await offThread { try self.nextLine() }
    }

    /// Everything until the other side closes.
    public func readToEnd() async throws -> String {
        try await offThread {
            while try self.fill() {}
            return self.buffered.withLockedValue { bytes in
                defer { bytes = [] }
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    /// Sends FIN: the other side reads to the end.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends both directions; a blocked read returns.
    public func disconnect() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func nextLine() throws -> String? {
        while true {
            let line = buffered.withLockedValue { bytes -> String? in
                guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { bytes.removeFirst(end + 1) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            if let line { return line }
            guard try fill() else { return nil }
        }
    }

    /// Whether anything more came.
    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count < 0 && errno == ECONNRESET { return false }
        guard count >= 0 else { throw PosixError("recv") }
        buffered.withLockedValue { $0.append(contentsOf: chunk[..<count]) }
        return count > 0
    }

    /// Calls `body` with the socket address of a path.
    static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw TimedOut("path too long: \(path)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
