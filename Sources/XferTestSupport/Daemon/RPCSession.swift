import NIOConcurrencyHelpers
public import StrictJSON

/// An error that the daemon answered with.
public struct RPCRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    public let code: Int64
    public let message: String
    public let data: JSONValue

    /// The error's `data.reason`.
    public var reason: String? { data["reason"]?.stringValue }
    /// `data.path`: the field at fault.
    public var path: String? { data["path"]?.stringValue }
    public var description: String { "\(code) \(message) \(data.text)" }
}

/// A client of the NDJSON dialect. It checks nothing itself; the transcript records the messages for the schema check.
public final class RPCSession: Sendable {
    private struct State {
        var nextID: Int64 = 1
        var calls: [Int64: (method: String, answer: CheckedContinuation<JSONValue, any Error>)] = [:]
        var events: [JSONValue] = []
        var isClosed = false
        /// Callers that wait for an event.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let socket: UnixSocket
    private let transcript: Transcript?
    private let state = NIOLockedValueBox(State())

    public init(socket path: String, transcript: Transcript? = nil) throws {
        let socket = try UnixSocket(connectedTo: path)
        self.socket = socket
        self.transcript = transcript
        startThread { [weak self] in
            while let line = try? socket.nextLine() {
                guard let self else { return }
                self.receive(line)
            }
            self?.end()
        }
    }

    deinit { socket.disconnect() }

    /// Calls a method and returns its result.
    ///
    /// - Throws: `RPCRefusal` for an error answer, `TimedOut` if there is no answer.
    public func call(_ method: String, _ params: JSONValue = [:]) async throws -> JSONValue {
        let id = state.withLockedValue { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        let message: JSONValue = ["jsonrpc": "2.0", "id": .integer(id), "method": .string(method), "params": params]
        let patience = Task {
            try await Task.sleep(for: Patience.long)
            self.finish(id, .failure(TimedOut("no answer to \(method)")))
        }
        defer { patience.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let isClosed = state.withLockedValue { state in
                if !state.isClosed { state.calls[id] = (method, continuation) }
                return state.isClosed
            }
            guard !isClosed else { return continuation.resume(throwing: TimedOut("the daemon closed the connection")) }
            transcript?.record("request", method, message, connection: ObjectIdentifier(self))
            do {
                // Mostly nothing is left, and no Swift task has to wait for a thread.
                let rest = try socket.sendAtOnce(Array((message.text + "\n").utf8))
                guard !rest.isEmpty else { return }
                Task {
                    do { try await socket.send(rest) } catch { self.finish(id, .failure(error)) }
                }
            } catch {
                finish(id, .failure(error))
            }
        }
    }

    /// The events that arrived as notifications, in order.
    public var events: [JSONValue] { state.withLockedValue(\.events) }

    /// True if the daemon has closed the connection.
    public var isClosed: Bool { state.withLockedValue(\.isClosed) }

    /// Waits for a notified event.
    public func event(_ what: String, where isIt: (JSONValue) -> Bool) async throws -> JSONValue {
        let deadline = ContinuousClock.now + Patience.limit
        var seen = 0
        while true {
            let (events, isClosed) = state.withLockedValue { ($0.events, $0.isClosed) }
            if let event = events[seen...].first(where: isIt) { return event }
            guard !isClosed else { throw TimedOut("the daemon closed the connection before the event: \(what)") }
            guard ContinuousClock.now < deadline else { throw TimedOut("no event: \(what)") }
            try Task.checkCancellation()
            seen = events.count
            await nextEvent(after: seen, until: deadline)
        }
    }

    /// Returns when there are more events than `count`, when the connection or the calling Swift task has ended, or at
    /// the deadline.
    private func nextEvent(after count: Int, until deadline: ContinuousClock.Instant) async {
        let alarm = Task {
            try await Task.sleep(until: deadline)
            self.wakeWaiting()
        }
        defer { alarm.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLockedValue { state in
                    let isDue = state.events.count > count || state.isClosed || Task.isCancelled
                    if !isDue { state.waiting.append(continuation) }
                    return isDue
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            wakeWaiting()
        }
    }

    /// Wakes every caller that waits for an event; each checks its condition again.
    private func wakeWaiting() {
        let waiting = state.withLockedValue { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    public func close() { socket.disconnect() }

    private func finish(_ id: Int64, _ result: Result<JSONValue, any Error>) {
        state.withLockedValue { $0.calls.removeValue(forKey: id) }?.answer.resume(with: result)
    }

    private func end() {
        let calls = state.withLockedValue { state in
            state.isClosed = true
            defer { state.calls = [:] }
            return state.calls
        }
        for call in calls.values { call.answer.resume(throwing: TimedOut("the daemon closed the connection")) }
        wakeWaiting()
    }

    private func receive(_ line: String) {
        guard let message = try? JSONValue(parsing: Array(line.utf8)) else {
            return transcript?.record("response", "?", .string(line), connection: ObjectIdentifier(self)) ?? ()
        }
        if let method = message["method"]?.stringValue {
            transcript?.record("notification", method, message, connection: ObjectIdentifier(self))
            if let event = message["params"] { state.withLockedValue { $0.events.append(event) } }
            return wakeWaiting()
        }
        guard let id = message["id"]?.integerValue else { return }
        let method = state.withLockedValue { $0.calls[id]?.method } ?? "?"
        transcript?.record("response", method, message, connection: ObjectIdentifier(self))
        if let result = message["result"] { return finish(id, .success(result)) }
        let error = message["error"] ?? .null
        finish(
            id,
            .failure(
                RPCRefusal(
                    code: error["code"]?.integerValue ?? 0, message: error["message"]?.stringValue ?? "",
                    data: error["data"] ?? .null)))
    }
}
