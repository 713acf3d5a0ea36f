import Glibc
import NIOConcurrencyHelpers
import StrictJSON
import XferModel
import XferProtocol
import XferTestSupport

/// A Unix socket that speaks JSON-RPC by a script: what a daemon would answer, without one.
///
/// It lives on threads of its own: however busy the tests are, it answers.
final class ScriptedDaemon: Sendable {
    typealias Script = @Sendable (_ method: String, _ params: JSONValue) -> Answer

    enum Answer: Sendable {
        case result(JSONValue)
        case failure(RPCFailure)
        /// Closes the connection without an answer.
        case hangUp
        /// Does not answer.
        case silence
    }

    private struct State {
        var listener: Int32 = -1
        var connections: Set<Int32> = []
        var calls: [(method: String, params: JSONValue)] = []
        /// How many calls of a method have been answered.
        var answered: [String: Int] = [:]
    }

    let directory: TemporaryDirectory
    private let script: Script
    private let state = NIOLockedValueBox(State())

    init(_ script: @escaping Script) throws {
        directory = try TemporaryDirectory("scripted")
        self.script = script
        try start()
    }

    deinit { stop() }

    var socket: String { directory.file("xferd.sock") }

    /// Calls in the order they came.
    var calls: [(method: String, params: JSONValue)] { state.withLockedValue { $0.calls } }

    func calls(of method: String) -> [JSONValue] { calls.filter { $0.method == method }.map(\.params) }

    /// Returns when calls of the method were answered so often in all.
    func called(_ method: String, times: Int = 1) async throws {
        try await eventually("\(method) is called") {
            self.state.withLockedValue { $0.answered[method, default: 0] >= times }
        }
    }

    /// Listens, again after `stop`.
    func start() throws {
        unlink(socket)
        let listener = try UnixSocket.listen(at: socket)
        state.withLockedValue { $0.listener = listener }
        startThread { [weak self] in
            defer { close(listener) }
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                guard let self else { return }
                _ = state.withLockedValue { $0.connections.insert(connection) }
                serve(connection)
            }
        }
    }

    /// Closes everything as a killed daemon does.
    func stop() {
        unlink(socket)
        // Under the lock: a descriptor that is closed meanwhile may be another file's at once.
        state.withLockedValue { state in
            // Ends the accept that waits; the thread that accepts closes the socket.
            if state.listener >= 0 { shutdown(state.listener, Int32(SHUT_RDWR)) }
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            (state.listener, state.connections) = (-1, [])
        }
    }

    /// Sends an event to every connection.
    func emit(_ event: JSONValue) {
        let message: JSONValue = ["jsonrpc": "2.0", "method": "event", "params": event]
        state.withLockedValue { state in
            for connection in state.connections { Self.send(message, to: connection) }
        }
    }

    private func serve(_ connection: Int32) {
        startThread { [weak self] in
            var buffer: [UInt8] = []
            while case let chunk = Self.receive(from: connection), !chunk.isEmpty {
                var searched = buffer.count
                buffer += chunk
                while let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                    self?.answer(Array(buffer[..<end]), to: connection)
                    buffer.removeFirst(end + 1)
                    searched = 0
                }
            }
            self?.state.withLockedValue { _ = $0.connections.remove(connection) }
            close(connection)
        }
    }

    private func answer(_ line: [UInt8], to connection: Int32) {
        guard let call = try? JSONValue(parsing: line), let method = call["method"]?.stringValue else { return }
        let params = call["params"] ?? [:]
        // Before the answer: a test that has the answer finds the call.
        state.withLockedValue { $0.calls.append((method, params)) }
        let reply: JSONValue
        switch script(method, params) {
        case .result(let result): reply = ["jsonrpc": "2.0", "id": call["id"] ?? .null, "result": result]
        case .failure(let failure): reply = ["jsonrpc": "2.0", "id": call["id"] ?? .null, "error": failure.wire]
        case .hangUp:
            shutdown(connection, Int32(SHUT_RDWR))
            return
        case .silence: return
        }
        Self.send(reply, to: connection)
        state.withLockedValue { $0.answered[method, default: 0] += 1 }
    }

    private static func receive(from connection: Int32) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &chunk, chunk.count, 0)
        return Array(chunk.prefix(max(0, count)))
    }

    private static func send(_ message: JSONValue, to connection: Int32) {
        var rest = Array((message.text + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
