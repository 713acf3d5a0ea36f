public import Glibc
import NIOConcurrencyHelpers

/// The kernel's interface of a Unix socket, for tests that send what a proper client would not send.
///
/// Calls that have to wait run on a thread of their own.
public final class UnixSocket: Sendable {
    private let descriptor: Int32
    private let received = NIOLockedValueBox(Received())

    /// Received bytes; `start` is the beginning of the unread part.
    private struct Received {
        var bytes: [UInt8] = []
        var start = 0

        /// The position of the first unread line break; nil if there is none.
        var nextLineBreak: Int? {
            bytes.withUnsafeBytes { all in
                let unread = UnsafeRawBufferPointer(rebasing: all[start...])
                guard let base = unread.baseAddress, let found = memchr(base, 0x0A, unread.count) else { return nil }
                return start + (UnsafeRawPointer(found) - base)
            }
        }

        mutating func take(upTo end: Int, dropping count: Int = 0) -> String {
            defer { start = end + count }
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
    }

    /// Connects to a listening stream socket.
    public init(connectedTo path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // An initialiser that throws here still runs `deinit`. A second close could close a descriptor of another test.
        guard try Self.withAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
            throw PosixError("connect \(path)")
        }
        // A failing test must not hang for ever.
        Patience.bound(descriptor, by: Patience.long)
    }

    deinit { close(descriptor) }

    /// Sends all bytes; throws when the other side has closed.
    public func send(_ bytes: some Collection<UInt8> & Sendable) async throws {
        let rest = try sendAtOnce(Array(bytes))
        guard !rest.isEmpty else { return }
        try await offThread { [descriptor] in
            var unsent = rest
            while !unsent.isEmpty {
                let count = unsent.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw PosixError("send") }
                unsent = unsent.dropFirst(count)
            }
        }
    }

    /// Sends the bytes that the kernel takes without waiting, and returns the others; throws when the other side has
    /// closed.
    func sendAtOnce(_ bytes: [UInt8]) throws -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count < 0, errno == EAGAIN { break }
            guard count > 0 else { throw PosixError("send") }
            rest = rest.dropFirst(count)
        }
        return rest
    }

    public func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// The next line without its end; nil when the other side has closed.
    public func readLine() async throws -> String? {
        if let line = receivedLine() { return line }
        return try await offThread { try self.nextLine() }
    }

    /// The next `count` bytes.
    public func read(_ count: Int) async throws -> String {
        if let text = receivedText(count) { return text }
        return try await offThread {
            while true {
                if let text = self.receivedText(count) { return text }
                guard try self.fill() else { throw TimedOut("the connection ended before \(count) bytes") }
            }
        }
    }

    /// All bytes until the other side closes.
    public func readToEnd() async throws -> String {
        try await offThread {
            while try self.fill() {}
            return self.received.withLockedValue { $0.take(upTo: $0.bytes.count) }
        }
    }

    /// Sends FIN: the other side reads to the end.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends both directions; a blocked read returns.
    public func disconnect() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func nextLine() throws -> String? {
        while true {
            if let line = receivedLine() { return line }
            guard try fill() else { return nil }
        }
    }

    /// The next line, if all of it has been received.
    private func receivedLine() -> String? {
        received.withLockedValue { received -> String? in
            guard let end = received.nextLineBreak else { return nil }
            return received.take(upTo: end, dropping: 1)
        }
    }

    /// The next `count` bytes, if they have been received.
    private func receivedText(_ count: Int) -> String? {
        received.withLockedValue { received in
            received.bytes.count - received.start < count ? nil : received.take(upTo: received.start + count)
        }
    }

    /// Reads more bytes. Returns true if any arrived.
    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count < 0 && errno == ECONNRESET { return false }
        guard count >= 0 else { throw PosixError("recv") }
        received.withLockedValue { received in
            if received.start == received.bytes.count { received = Received() }
            received.bytes.append(contentsOf: chunk[..<count])
        }
        return count > 0
    }

    /// A stream socket that listens at the path, which must be free; the file stays when the descriptor is closed.
    public static func listen(at path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard try withAddress(path, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 16) == 0 else {
            let error = PosixError("listen \(path)")
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Calls `body` with the socket address of a path.
    public static func withAddress<Result>(
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
