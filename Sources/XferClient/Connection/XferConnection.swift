public import StrictJSON
public import XferProtocol

/// A connection to `xferd`. It carries calls and their answers, and notifications between them.
///
/// Blocking, and meant for one thread: a command-line program waits for one thing at a time. Calls can be pipelined
/// with `send` and `answer(to:)`. Nothing here retries: whether a call may be repeated is the caller's decision.
public final class XferConnection {
    /// Length of the longest message that the client and the daemon accept, in bytes.
    public static let messageLimit = 4 * 1024 * 1024

    /// The socket's path.
    public let path: String
    private let socket: UnixSocket
    private var lines: LineBuffer
    private var lastID: Int64 = 0
    private var answers: [Int64: Result<JSONValue, RPCFailure>] = [:]
    /// Notifications that arrived while a call was waiting. Unbounded, so long calls belong on a connection without
    /// subscriptions.
    private var notifications = NotificationQueue()
    private var isBroken = false

    private init(path: String, socket: UnixSocket) {
        self.path = path
        self.socket = socket
        lines = LineBuffer(limit: Self.messageLimit)
    }

    /// Connects to the socket at `path`. `timeout` bounds the wait for a daemon that is too busy to accept.
    public static func connect(
        to path: String, timeout: Duration? = .seconds(10)
    ) throws(ConnectionError) -> XferConnection {
        let socket = try UnixSocket(connectingTo: path, deadline: Deadline(after: timeout))
        return XferConnection(path: path, socket: socket)
    }

    /// Connects to a daemon that listens on the network.
    public static func connect(
        to server: ServerAddress, timeout: Duration? = .seconds(10)
    ) throws(ConnectionError) -> XferConnection {
        let socket = UnixSocket(adopting: try ServerBridge.open(server, timeout: timeout))
        return XferConnection(path: server.description, socket: socket)
    }

    /// A descriptor that ends any waiting with `ConnectionError.interrupted` when it becomes readable: a signalfd, a
    /// pipe written by a signal handler, a terminal. The connection does not read from it. Afterwards the connection is
    /// still usable, unless the interruption came while a call was being sent.
    public var interruptDescriptor: Int32? {
        get { socket.interruptDescriptor }
        set { socket.interruptDescriptor = newValue }
    }

    /// The socket's descriptor, for poll(2) together with other descriptors. Poll it only after
    /// `nextNotification(timeout: .zero)` has returned nil.
    public var descriptor: Int32 { socket.descriptor }

    // MARK: Calls

    /// Calls a method and waits for its result. Without a timeout it waits until the connection ends.
    public func call<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
    ) throws(CallError) -> Method.Result {
        let result = try result(of: method, params, timeout: timeout)
        do throws(WireError) {
            return try Method.Result(lenient: result)
        } catch {
            throw .malformedResult(method: Method.name, error)
        }
    }

    /// Calls a method and returns its result without decoding it.
    public func result<Method: RPCMethod>(
        of method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
    ) throws(CallError) -> JSONValue {
        let deadline = Deadline(after: timeout)
        return try answer(to: try send(Method.name, params, deadline), deadline)
    }

    /// Calls a method that takes no parameters.
    public func call<Method: RPCMethod>(
        _ method: Method.Type, timeout: Duration? = nil
    ) throws(CallError) -> Method.Result where Method.Params == NoParams {
        try call(method, NoParams(), timeout: timeout)
    }

    /// Calls a method by name with any parameters and returns the result unchanged.
    public func call(
        _ method: String, _ params: JSONValue? = nil, timeout: Duration? = nil
    ) throws(CallError) -> JSONValue {
        let deadline = Deadline(after: timeout)
        return try answer(to: try send(method, params, deadline), deadline)
    }

    /// Sends a call without waiting for its answer. Returns the id to pass to `answer(to:)`.
    public func send(
        _ method: String, _ params: JSONValue? = nil, timeout: Duration? = nil
    ) throws(CallError) -> Int64 {
        try send(method, params, Deadline(after: timeout))
    }

    /// Sends a call of a known method without waiting for its answer.
    public func send<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
    ) throws(CallError) -> Int64 {
        try send(Method.name, params, Deadline(after: timeout))
    }

    /// True if the answer to a call that was sent has come, as `nextNotification` notices, too.
    public func hasAnswer(to id: Int64) -> Bool { answers[id] != nil }

    /// Waits for the answer to a call that `send` has sent. Each answer can be fetched once.
    public func answer(to id: Int64, timeout: Duration? = nil) throws(CallError) -> JSONValue {
        try answer(to: id, Deadline(after: timeout))
    }

    // MARK: Notifications

    /// The next notification in the order of arrival; nil when none arrives in time.
    ///
    /// Without a timeout it waits until one arrives. With `.zero` it returns only what has arrived already.
    public func nextNotification(timeout: Duration? = nil) throws(ConnectionError) -> Notification? {
        let deadline = Deadline(after: timeout)
        do throws(ConnectionError) {
            while true {
                if !notifications.isEmpty { return notifications.removeFirst() }
                if try processLine() { continue }
                // Read before waiting, so that a timeout of zero sees what has arrived.
                if try read() { continue }
                try socket.wait(until: deadline)
            }
        } catch {
            guard error == .timedOut else { throw error }
            return nil
        }
    }

    // MARK: Messages

    private func send(
        _ method: String, _ params: (some WireValue)?, _ deadline: Deadline
    ) throws(CallError) -> Int64 {
        lastID += 1
        do throws(ConnectionError) {
            var line = try CallMessage.text(id: lastID, method, params)
            line.append(UInt8(ascii: "\n"))
            try write(line, deadline)
        } catch {
            throw .connection(error)
        }
        return lastID
    }

    private func write(_ line: [UInt8], _ deadline: Deadline) throws(ConnectionError) {
        guard !isBroken else { throw .closed }
        // If sending stops before the whole message is sent, the connection cannot be used any more.
        isBroken = true
        var rest = line[...]
        while true {
            do throws(ConnectionError) {
                rest = rest.dropFirst(try socket.write(rest))
            } catch {
                if error == .closed, hasFinalMessage() { return }
                throw error
            }
            if rest.isEmpty { break }
            try socket.wait(forWriting: true, until: deadline)
            // A daemon stops reading while its answers are not read. So the client reads answers while it writes.
            _ = try read()
        }
        isBroken = false
    }

    /// Reads the bytes that have arrived. Returns true if the daemon, which accepts no more input, answered the last
    /// call before it closed.
    private func hasFinalMessage() -> Bool {
        while (try? read()) == true {}
        while (try? processLine()) == true {}
        return answers[lastID] != nil
    }

    /// Reads the bytes that have arrived. Returns false when there were none.
    private func read() throws(ConnectionError) -> Bool {
        try lines.append { bytes throws(ConnectionError) in try socket.read(into: &bytes) }
    }

    private func answer(to id: Int64, _ deadline: Deadline) throws(CallError) -> JSONValue {
        let answer: Result<JSONValue, RPCFailure>
        do throws(ConnectionError) {
            answer = try waitForAnswer(to: id, deadline)
        } catch {
            throw .connection(error)
        }
        switch answer {
        case .success(let value): return value
        case .failure(let failure): throw .refused(failure)
        }
    }

    private func waitForAnswer(
        to id: Int64, _ deadline: Deadline
    ) throws(ConnectionError) -> Result<JSONValue, RPCFailure> {
        while true {
            if let answer = answers.removeValue(forKey: id) { return answer }
            if try processLine() { continue }
            try socket.wait(until: deadline)
            _ = try read()
        }
    }

    /// Processes one complete message. Returns false when there is none.
    private func processLine() throws(ConnectionError) -> Bool {
        guard let line = try lines.nextLine() else { return false }
        switch try ReceivedMessage(parsing: line) {
        case .notification(let notification): notifications.append(notification)
        // An answer without an id is about a message that the daemon could not read. It belongs to no known call, so
        // the last call gets it.
        case .answer(let id, let answer): answers[id ?? lastID] = answer
        }
        return true
    }
}

/// The reason why a call has no result.
public enum CallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The daemon answered with an error.
    case refused(RPCFailure)
    /// There was no answer; it is unknown whether the call took effect.
    case connection(ConnectionError)
    /// The answer does not have the method's result type.
    case malformedResult(method: String, WireError)

    public var description: String {
        switch self {
        case .refused(let failure): failure.description
        case .connection(let error): error.description
        case .malformedResult(let method, let error): "the answer to \(method) is not understood: \(error)"
        }
    }
}
