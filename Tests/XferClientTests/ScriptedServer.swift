import Foundation
import Glibc
import XferTestSupport

/// A Unix-socket server that plays one script per connection on a thread of its own.
final class ScriptedServer {
    let path: String
    private let directory: TemporaryDirectory
    private let listener: Int32
    private let finished = DispatchGroup()

    /// Plays `script` with each of `connections` clients in turn.
    init(connections: Int = 1, _ script: @escaping @Sendable (Peer) -> Void) throws {
        directory = try TemporaryDirectory("xfer-script")
        path = directory.file("s")
        listener = try UnixSocket.listen(at: path)
        finished.enter()
        let thread = Thread { [listener, finished] in
            for _ in 0..<connections {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                script(Peer(descriptor: descriptor))
                close(descriptor)
            }
            finished.leave()
        }
        thread.start()
    }

    deinit {
        // Wakes an accept for which no client connected.
        shutdown(listener, Int32(SHUT_RDWR))
        finished.wait()
        close(listener)
    }

    /// The client's end as the script sees it.
    final class Peer {
        private let descriptor: Int32
        private var received: [UInt8] = []

        init(descriptor: Int32) { self.descriptor = descriptor }

        /// The next line without its end, nil when the client has closed.
        func readLine() -> String? {
            var searched = 0
            while true {
                if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                    defer { received.removeFirst(end + 1) }
                    return String(decoding: received[..<end], as: UTF8.self)
                }
                searched = received.count
                var chunk = [UInt8](repeating: 0, count: 65_536)
                let count = read(descriptor, &chunk, chunk.count)
                guard count > 0 else { return nil }
                received += chunk[..<count]
            }
        }

        func write(_ text: String) {
            write(Array(text.utf8))
        }

        func write(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// Until the client closes.
        func awaitClose() {
            while readLine() != nil {}
        }
    }
}
