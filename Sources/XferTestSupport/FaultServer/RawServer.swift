import Glibc
import NIOConcurrencyHelpers

/// A server on the loopback whose connections run a test's script, byte by byte, each on a thread of its own. It is for
/// events while a request is still being sent; `FaultServer` only sees complete requests.
public final class RawServer: Sendable {
    private struct State {
        var connectionCount = 0
        var sockets: Set<Int32> = []
        var isClosed = false
    }

    public let port: Int
    private let listener: Int32
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - address: of the loopback, for example `127.0.0.2` or `::1`.
    ///   - port: 0 lets the kernel choose one.
    ///   - receiveBuffer: bytes that the kernel receives before the script reads; 0 is the system's choice.
    ///   - script: runs once per connection; its end closes the connection.
    public init(
        address: String = "127.0.0.1", port: Int = 0, receiveBuffer: Int32 = 0,
        script: @escaping @Sendable (RawConnection) -> Void
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        (listener, self.port) = try TLSServer.listen(address, port)
        if receiveBuffer > 0 {
            var size = receiveBuffer
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let (listener, state) = (listener, state)
        startThread {
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    close(listener)
                    return
                }
                let number: Int? = state.withLockedValue { state in
                    if state.isClosed { return nil }
                    state.connectionCount += 1
                    state.sockets.insert(socket)
                    return state.connectionCount
                }
                guard let number else {
                    close(socket)
                    continue
                }
                startThread {
                    script(RawConnection(number: number, stream: ServerStream(socket)))
                    state.withLockedValue { _ = $0.sockets.remove(socket) }
                    close(socket)
                }
            }
        }
    }

    deinit {
        state.withLockedValue { state in
            state.isClosed = true
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            shutdown(listener, Int32(SHUT_RDWR))
        }
    }

    /// `http://127.0.0.1:port` and the path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    public var connectionCount: Int { state.withLockedValue(\.connectionCount) }
}

/// One connection of a `RawServer`; used only by its script's thread. All its calls block.
public final class RawConnection {
    /// The number of the connection, from 1.
    public let number: Int
    private let stream: ServerStream
    private var pending: ArraySlice<UInt8> = []

    init(number: Int, stream: ServerStream) {
        self.number = number
        self.stream = stream
    }

    /// A request's head without its empty line; nil at the end.
    public func readHead() -> String? {
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let end = pending.firstRange(of: mark) {
                let head = String(decoding: pending[..<end.lowerBound], as: UTF8.self)
                pending = pending[end.upperBound...]
                return head
            }
            guard let more = stream.read() else { return nil }
            pending += more
        }
    }

    /// Reads that many bytes; fewer only at the end.
    public func read(_ count: Int) -> [UInt8] {
        while pending.count < count, let more = stream.read() { pending += more }
        defer { pending = pending.dropFirst(count) }
        return Array(pending.prefix(count))
    }

    /// The next bytes, as many as have arrived and fit; 0 at the end. For contents that are not kept.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard pending.isEmpty else {
            let count = min(pending.count, buffer.count)
            buffer.copyBytes(from: pending.prefix(count))
            pending = pending.dropFirst(count)
            return count
        }
        return max(0, recv(stream.socket, buffer.baseAddress, buffer.count, 0))
    }

    /// Reads all bytes up to the end.
    public func readAll() -> [UInt8] { read(.max) }

    @discardableResult
    public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool { stream.write(bytes) }
}
