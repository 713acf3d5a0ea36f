public import StrictJSON

extension DaemonFixture {
    /// A new connection.
    public func session() throws -> RPCSession { try RPCSession(socket: socket, transcript: transcript) }

    /// Makes one call on a connection of its own.
    public func call(_ method: String, _ params: JSONValue = [:]) async throws -> JSONValue {
        try await session().call(method, params)
    }

    /// Adds a task and returns its id.
    @discardableResult
    public func add(_ url: String, _ fields: JSONObject = [:]) async throws -> Int64 {
        var params = fields
        params["url"] = .string(url)
        let result = try await call("task.add", .object(params))
        guard let id = result["task"]?["id"]?.integerValue else { throw TimedOut("task.add answered \(result.text)") }
        return id
    }

    /// The task as `task.get` shows it.
    public func task(_ id: Int64) async throws -> JSONValue { try await Self.task(id, session()) }

    private static func task(_ id: Int64, _ session: RPCSession) async throws -> JSONValue {
        let result = try await session.call("task.get", ["id": .integer(id)])
        return result["task"] ?? result
    }

    /// Waits until the task is in one of these states and returns it; throws when it ends in another one.
    @discardableResult
    public func wait(_ id: Int64, for states: String...) async throws -> JSONValue {
        let terminal = ["completed", "failed", "cancelled"]
        let session = try session()
        return try await eventually("task \(id) is \(states)", within: Patience.long) {
            let task = try await Self.task(id, session)
            guard let state = task["state"]?.stringValue else { throw TimedOut("no state in \(task.text)") }
            if states.contains(state) { return task }
            if terminal.contains(state) { throw TimedOut("task \(id) is not \(states) but: \(task.text)") }
            return nil
        }
    }

    /// Waits until the task has received at least this many bytes while it runs.
    public func waitForBytes(_ count: Int64, of id: Int64) async throws {
        let session = try session()
        try await eventually("task \(id) has \(count) bytes", within: Patience.long) {
            let task = try await Self.task(id, session)
            if task["state"]?.stringValue == "completed" { return true }
            return (task["progress"]?["received"]?.integerValue ?? 0) >= count
        }
    }

    /// Every durable event so far, oldest first.
    public func events(of id: Int64? = nil, types: String...) async throws -> [JSONValue] {
        let session = try session()
        var all: [JSONValue] = []
        var seq: Int64 = 0
        while true {
            var params: JSONObject = ["seq": .integer(seq)]
            if let id { params["task_ids"] = [.integer(id)] }
            if !types.isEmpty { params["types"] = .array(types.map(JSONValue.string)) }
            let page = try await session.call("events.since", .object(params))
            let events = page["events"]?.arrayValue ?? []
            all += events
            guard let last = page["last_seq"]?.integerValue, last > seq else { return all }
            seq = last
        }
    }

    /// Runs the real `xferctl` against this daemon, in the download directory.
    public func ctl(_ arguments: String..., input: String = "") async throws -> Command.Result {
        try await ctl(arguments, input: input)
    }

    /// Runs the real `xferctl` with a list of arguments.
    public func ctl(_ arguments: [String], input: String = "") async throws -> Command.Result {
        try await Command.run(
            "\(Command.productsDirectory)/xferctl", arguments, input: input, environment: environment,
            directory: downloads)
    }
}

/// Runs `body` with a started daemon, stops it properly, and adds its log to any error.
public func withDaemon(
    _ options: DaemonFixture.Options = DaemonFixture.Options(), body: (DaemonFixture) async throws -> Void
) async throws {
    try await withDaemon(options, prepare: { _ in }, body: body)
}

/// Runs `body` with a daemon; `prepare` gets the daemon's directories before it is started.
public func withDaemon(
    _ options: DaemonFixture.Options, prepare: (DaemonFixture) throws -> Void,
    body: (DaemonFixture) async throws -> Void
) async throws {
    let daemon = try DaemonFixture(options)
    do {
        try prepare(daemon)
        try await daemon.start()
        try await body(daemon)
        if daemon.process != nil { try await daemon.stop() }
    } catch {
        throw DaemonFailure(error: error, log: String(daemon.log.suffix(6000)))
    }
}

/// A description of the failure, with the end of the daemon's log.
public struct DaemonFailure: Error, CustomStringConvertible {
    public let error: any Error
    public let log: String

    public var description: String { "\(error)\n--- xferd's log ---\n\(log)" }
}
