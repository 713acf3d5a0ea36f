import Glibc
import NIOConcurrencyHelpers

/// The service manager's end of sd_notify(3): a datagram socket that collects a service's messages.
public final class NotifySocket: Sendable {
    /// Path for `NOTIFY_SOCKET`.
    public let path: String
    private let descriptor: Int32
    private let received = NIOLockedValueBox<[String]>([])

    public init(path: String) throws {
        self.path = path
        descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        unlink(path)
        guard try UnixSocket.withAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
            throw PosixError("bind \(path)")
        }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// All assignments received so far, in order, for example `READY=1`.
    public var messages: [String] {
        received.withLockedValue { messages in
            var datagram = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = recv(descriptor, &datagram, datagram.count, 0), count > 0 {
                let lines = String(decoding: datagram[..<count], as: UTF8.self).split(separator: "\n")
                messages.append(contentsOf: lines.map(String.init))
            }
            return messages
        }
    }

    /// Discards the messages received so far.
    public func clear() {
        _ = messages
        received.withLockedValue { $0 = [] }
    }
}
