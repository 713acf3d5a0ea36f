import Glibc
import NIOConcurrencyHelpers

/// A relay between a client and PostgreSQL's Unix socket, which breaks connections on request. Ends with the last
/// reference.
public final class PostgresRelay: Sendable {
    /// The treatment of the bytes that pass.
    public enum Mode: Sendable {
        /// A statement with this text waits until another mode is set; others pass.
        case stallsAt(String, ConditionGate)
        case passes
        /// The next statement reaches the server; its answer is lost, and the connection ends.
        case swallowsTheNextAnswer
        /// No byte passes and no connection ends, as when a network drops packets; they arrive when bytes pass again.
        case stalls
    }

    private let directory: TemporaryDirectory
    private let listener: Int32
    private let mode = NIOLockedValueBox(Mode.passes)
    /// Statements that wait.
    private let stalled = NIOLockedValueBox(0)
    /// True if it does not stall.
    private let gate = ConditionLock(value: true)
    private let descriptors = NIOLockedValueBox<[Int32]>([])

    /// The `host` for libpq.
    public var host: String { directory.path }

    /// A connection string for one of the server's databases.
    public func connection(_ database: String) -> String {
        "host=\(host) port=5432 user=\(PostgresCluster.user) dbname=\(database)"
    }

    public init(to cluster: PostgresCluster) throws {
        directory = try TemporaryDirectory("xfer-relay")
        let target = "\(cluster.host)/.s.PGSQL.\(cluster.port)"
        let listener = try UnixSocket.listen(at: directory.file(".s.PGSQL.5432"))
        self.listener = listener
        startThread { [mode, gate, descriptors, stalled] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
                guard (try? UnixSocket.withAddress(target) { connect(server, $0, $1) }) == 0 else {
                    close(client)
                    close(server)
                    continue
                }
                descriptors.withLockedValue { $0 += [client, server] }
                startThread { Self.copy(from: client, to: server, mode, gate, stalled, isAnswer: false) }
                startThread { Self.copy(from: server, to: client, mode, gate, stalled, isAnswer: true) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        cut()
        set(.passes)
    }

    /// True if a statement waits.
    public var isStalling: Bool { stalled.withLockedValue { $0 } > 0 }

    public func set(_ mode: Mode) {
        let last = self.mode.withLockedValue { current in
            defer { current = mode }
            return current
        }
        if case .stallsAt(_, let old) = last { old.open() }
        gate.lock()
        if case .stalls = mode { gate.unlock(withValue: false) } else { gate.unlock(withValue: true) }
    }

    /// Ends all connections.
    public func cut() {
        // The descriptors stay open until the process ends: a thread may still use their numbers.
        descriptors.withLockedValue { list in for descriptor in list { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    private static func copy(
        from source: Int32, to target: Int32, _ mode: NIOLockedValueBox<Mode>, _ gate: ConditionLock<Bool>,
        _ stalled: NIOLockedValueBox<Int>, isAnswer: Bool
    ) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(source, &chunk, chunk.count, 0), count > 0 {
            switch mode.withLockedValue({ $0 }) {
            case .passes: break
            case .swallowsTheNextAnswer:
                guard isAnswer else { break }
                mode.withLockedValue { $0 = .passes }
                shutdown(source, Int32(SHUT_RDWR))
                shutdown(target, Int32(SHUT_RDWR))
                return
            case .stallsAt(let text, let gate):
                guard !isAnswer, chunk.prefix(count).contains(text) else { break }
                stalled.withLockedValue { $0 += 1 }
                gate.wait()
                stalled.withLockedValue { $0 -= 1 }
            case .stalls:
                gate.lock(whenValue: true)
                gate.unlock()
            }
            var sent = 0
            while sent < count {
                let written = chunk.withUnsafeBytes {
                    send(target, $0.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { return }
                sent += written
            }
        }
        shutdown(target, Int32(SHUT_RDWR))
    }
}

extension Collection<UInt8> {
    fileprivate func contains(_ text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }
}

/// Stops threads until it is opened.
public final class ConditionGate: Sendable {
    private let lock = ConditionLock(value: false)

    public init() {}

    func open() {
        lock.lock()
        lock.unlock(withValue: true)
    }

    func wait() {
        lock.lock(whenValue: true)
        lock.unlock()
    }
}
