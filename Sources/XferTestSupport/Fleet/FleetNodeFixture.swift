import Glibc
import NIOConcurrencyHelpers
public import StrictJSON

/// A node of a fleet: the real `xferd`, and the real `xfer-fleet` beside it, with all times of beats and leases divided
/// by `scale`.
public final class FleetNodeFixture: Sendable {
    /// The divisor of the agent's times.
    private let scale: Int

    public let name: String
    public let daemon: DaemonFixture
    private let notify: NotifySocket
    /// The command that runs both programs on the node's own network.
    private let launcher: [String]
    private let agent = NIOLockedValueBox<ChildProcess?>(nil)

    /// - Parameters:
    ///   - database: an address for libpq.
    ///   - namespace: the node's own network.
    public init(
        _ name: String, database: String, scale: Int = 20, fleet: [String: String] = [:],
        settings: [String: [String: String]] = [:], in namespace: NetworkNamespace? = nil
    ) throws {
        self.name = name
        self.scale = scale
        launcher = try namespace?.launcher() ?? []
        var options = DaemonFixture.Options()
        options.launcher = launcher
        daemon = try DaemonFixture(options)
        notify = try NotifySocket(path: daemon.directory.file("fleet-notify"))
        var settings = settings
        settings["fleet"] = [
            "database": "\"\(database)\"", "node": name, "socket": daemon.directory.file("fleet.sock"),
            "daemon": daemon.socket, "slots": "8",
        ].merging(fleet) { $1 }
        try daemon.configure(settings)
    }

    public var socket: String { daemon.directory.file("fleet.sock") }
    public var logFile: String { daemon.directory.file("fleet.log") }
    public var log: String { (try? FileTree.text(logFile)) ?? "" }
    public var process: ChildProcess? { agent.withLockedValue { $0 } }

    private var arguments: [String] {
        ["--config", daemon.configurationFile, "--state-dir", daemon.stateDirectory, "--foreground-log"]
    }

    private var environment: [String: String] {
        daemon.environment.merging([
            "XFER_FLEET_TIME_SCALE": "\(scale)", "NOTIFY_SOCKET": notify.path, "XFERD_FLEET_SOCKET": socket,
        ]) { $1 }
    }

    /// Runs `xfer-fleet` with a command to its end.
    public func run(_ command: String) async throws -> Command.Result {
        try await Command.run(
            "\(Command.productsDirectory)/xfer-fleet", [command] + arguments, environment: environment)
    }

    /// Starts the agent alone, and returns at once.
    public func launchAgent() throws {
        notify.clear()
        var options = ChildProcess.Options()
        options.environment = environment
        (options.output, options.errors) = (logFile, logFile)
        let command = try launcher + ["\(Command.productsDirectory)/xfer-fleet", "run"] + arguments
        let process = try ChildProcess(command[0], Array(command.dropFirst()), options: options)
        agent.withLockedValue { $0 = process }
    }

    /// Starts the agent and returns when it answers.
    public func startAgent() async throws {
        try launchAgent()
        try await eventually("xfer-fleet of \(name) is ready", within: Patience.limit) {
            guard process?.isRunning == true else { throw TimedOut("xfer-fleet ended: \(log.suffix(4000))") }
            return notify.messages.contains("READY=1")
        }
    }

    /// Starts both, and returns when the node is in the fleet.
    public func start() async throws {
        try await daemon.start()
        try await startAgent()
        try await eventually("\(name) has joined", within: Patience.limit) {
            let nodes = try await call("fleet.nodes")["nodes"]?.arrayValue ?? []
            return nodes.contains { $0["name"]?.stringValue == name && $0["state"]?.stringValue == "live" }
        }
    }

    public func killAgent() async { await end(SIGKILL) }
    @discardableResult public func stopAgent() async -> ChildProcess.Exit? { await end(SIGTERM) }

    @discardableResult
    private func end(_ signal: Int32) async -> ChildProcess.Exit? {
        guard let process else { return nil }
        process.signal(signal)
        let exit = await process.exit()
        agent.withLockedValue { $0 = nil }
        return exit
    }

    public func stop() async {
        await stopAgent()
        await daemon.terminate()
    }

    // MARK: Calls to the fleet

    /// Makes one call on a connection of its own.
    public func call(_ method: String, _ params: JSONValue = [:]) async throws -> JSONValue {
        try await RPCSession(socket: socket, transcript: daemon.transcript).call(method, params)
    }

    @discardableResult
    public func add(_ url: String, _ fields: JSONObject = [:]) async throws -> Int64 {
        var params = fields
        params["url"] = .string(url)
        let result = try await call("task.add", .object(params))
        guard let id = result["task"]?["id"]?.integerValue else { throw TimedOut("task.add answered \(result.text)") }
        return id
    }

    public func task(_ id: Int64) async throws -> JSONValue {
        try await call("task.get", ["id": .integer(id)])["task"] ?? .null
    }

    /// Waits until the task is in that state.
    @discardableResult
    public func wait(_ id: Int64, for state: String) async throws -> JSONValue {
        try await eventually("task \(id) is \(state)", within: Patience.limit) {
            let task = try await task(id)
            if task["state"]?.stringValue == state { return task }
            guard ["completed", "failed", "cancelled"].contains(task["state"]?.stringValue ?? "") else { return nil }
            throw TimedOut("task \(id) is not \(state) but: \(task.text)")
        }
    }

    /// Every event of the fleet, oldest first.
    public func events() async throws -> [JSONValue] {
        var (all, seq): ([JSONValue], Int64) = ([], 0)
        while true {
            let page = try await call("events.since", ["seq": .integer(seq)])
            all += page["events"]?.arrayValue ?? []
            guard let last = page["last_seq"]?.integerValue, last > seq else { return all }
            seq = last
        }
    }

    /// `xferctl` with the agent's socket.
    public func ctl(_ arguments: String...) async throws -> Command.Result { try await ctl(arguments) }

    /// `xferctl` with the agent's socket.
    public func ctl(_ arguments: [String]) async throws -> Command.Result {
        try await Command.run(
            "\(Command.productsDirectory)/xferctl", arguments, environment: environment, directory: daemon.downloads)
    }

    /// Files in the download directory, without partial ones.
    public var files: [String] {
        ((try? FileTree.names(in: daemon.downloads)) ?? []).filter { !$0.hasPrefix(".") }
    }
}
