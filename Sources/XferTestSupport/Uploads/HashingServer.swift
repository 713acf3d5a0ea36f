import NIOConcurrencyHelpers
public import XferModel

/// A server that accepts contents of any size and stores none. It counts and hashes the bytes that arrive, and answers
/// 200.
public final class HashingServer: Sendable {
    /// One request.
    public struct Received: Sendable {
        /// The request's head as received, without the empty line that ends it.
        public let head: String
        /// The number of content bytes that arrived.
        public var count: Int64 = 0
        /// The SHA-256 digest of these bytes.
        public var digest: Checksum?

        /// The first field with this name, case ignored.
        public func header(_ name: String) -> String? {
            let lines = head.split(separator: "\r\n").dropFirst()
            let line = lines.first { $0.prefix { $0 != ":" }.lowercased() == name.lowercased() }
            return line?.drop { $0 != ":" }.dropFirst().drop { $0 == " " }.description
        }
    }

    private let server: RawServer
    private let box: NIOLockedValueBox<[Received]>

    public init() throws {
        let box = NIOLockedValueBox<[Received]>([])
        server = try RawServer { connection in
            while let head = connection.readHead() {
                let received = Self.receive(Received(head: head), from: connection)
                box.withLockedValue { $0.append(received) }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        self.box = box
    }

    public func url(_ path: String) -> String { server.url(path) }

    /// The requests that have ended, including those whose connection broke before all of the content arrived.
    public var received: [Received] { box.withLockedValue(\.self) }

    private static func receive(_ request: Received, from connection: RawConnection) -> Received {
        var received = request
        var rest = request.header("Content-Length").flatMap { Int64($0) } ?? 0
        var digest = Digest(.sha256)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while rest > 0 {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(rest, Int64(buffer.count)))])
            let count = connection.read(into: wanted)
            guard count > 0 else { break }
            digest.update(UnsafeRawBufferPointer(rebasing: wanted[..<count]))
            received.count += Int64(count)
            rest -= Int64(count)
        }
        received.digest = digest.finish()
        return received
    }
}
