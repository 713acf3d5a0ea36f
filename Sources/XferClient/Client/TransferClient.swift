public import StrictJSON
public import XferProtocol

/// A client of xferd for Swift concurrency. Swift tasks may share it; their calls run at the same time.
///
/// It connects with the first call, connects again after a restart of the daemon, and closes its connections when the
/// last reference to it is released. No method blocks a thread. Every method can be cancelled: it then throws
/// `CancellationError` at once, the connection stays usable, and the daemon carries out the request.
///
/// Besides `CancellationError`, a call throws:
/// * `CallError.refused`: the daemon answers an error, with its code, reason and field;
/// * `CallError.connection`: the connection was lost, or no answer came in time. The call may have been carried out;
///   calls of the scope `read` are repeated once;
/// * `CallError.malformedResult`: the answer has another form than this version of the library expects;
/// * `NoDaemonError`: no daemon answers, with the error of each socket that was tried;
/// * `ClientClosedError`: after `close`.
public final class TransferClient: Sendable {
    /// The timeouts of a client.
    public struct Options: Hashable, Sendable {
        /// The time for a connection, and for each answer; more than zero. Default 60 seconds. `TaskWait` has its own
        /// in addition.
        public var timeout = Duration.seconds(60)
        /// The time for which `TaskHandle.wait`, `add` and events search for a daemon that went away. Default 60
        /// seconds; nil is unlimited.
        public var reconnectLimit: Duration? = .seconds(60)

        public init() {}
    }

    public let options: Options
    let connector: Connector
    private let pool: ConnectionPool
    private let calls = CallPermits(ConnectionPool.most * CallTable.capacity)
    private let waits = CallPermits(ConnectionPool.most * CallTable.capacity * 3 / 4)

    /// Does not connect yet.
    ///
    /// - Parameter instance: which daemon. By default the one that `xferctl` finds: `XFERD_SOCKET`, then the user's,
    ///   then
    ///   the system's. `.socket` takes a path, `.server` an address on the network.
    public init(_ instance: SocketLocator.Instance = .automatic, options: Options = Options()) {
        self.options = options
        connector = Connector(instance, timeout: options.timeout)
        pool = ConnectionPool(connector)
    }

    /// Closes the connections. Calls that are under way, and later ones, fail. Events end with their own release.
    public func close() async { await pool.close() }

    // MARK: Calls

    /// Calls a method and waits for its result.
    ///
    /// - Parameters:
    ///   - method: a method of the RPC document, for example `QueueStats.self`.
    ///   - timeout: the longest time to wait for the answer; nil takes `Options.timeout`.
    public func call<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
    ) async throws -> Method.Result {
        try await call(method, params, in: nil, timeout: timeout).result
    }

    /// Calls a method that takes no parameters.
    public func call<Method: RPCMethod>(
        _ method: Method.Type, timeout: Duration? = nil
    ) async throws -> Method.Result where Method.Params == NoParams {
        try await call(method, NoParams(), timeout: timeout)
    }

    /// Calls a method by its name, and returns its result unchanged.
    public func call(_ method: String, _ params: JSONValue? = nil, timeout: Duration? = nil) async throws -> JSONValue {
        let isReading = MethodRegistry.method(named: method)?.scope == .read
        return try await exchange(method, params, in: nil, timeout ?? options.timeout, isReading: isReading).answer
    }

    /// Calls a method of the daemon with this database, and returns the identity of its database.
    ///
    /// - Parameter storeID: nil accepts any.
    func call<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params, in storeID: String?, timeout: Duration? = nil
    ) async throws -> (result: Method.Result, storeID: String?) {
        let (answer, found) = try await exchange(
            Method.name, params.wire, in: storeID, timeout ?? limit(for: params),
            isReading: Method.scope == .read)
        do throws(WireError) {
            return (try Method.Result(lenient: answer), found)
        } catch {
            throw CallError.malformedResult(method: Method.name, error)
        }
    }

    private func exchange(
        _ method: String, _ params: JSONValue?, in storeID: String?, _ timeout: Duration?, isReading: Bool
    ) async throws -> (answer: JSONValue, storeID: String?) {
        // Waits leave room for other calls.
        let isWait = method == TaskWait.name
        if isWait { try await waits.acquire() }
        defer { if isWait { waits.release() } }
        try await calls.acquire()
        defer { calls.release() }
        var mayRepeat = isReading
        while true {
            let (connection, entry) = try await pool.reserve()
            do {
                try connection.check(storeID: storeID)
            } catch {
                connection.channel.giveBack(entry)
                throw error
            }
            do {
                let answer = try await connection.channel.call(
                    method, params, as: entry, isReading: isReading, timeout: timeout)
                return (answer, connection.storeID)
            } catch CallError.connection(.closed) where mayRepeat {
                mayRepeat = false
            }
        }
    }

    /// The time limit for the answer; nil is unlimited.
    private func limit(for params: some WireParams) -> Duration? {
        guard let wait = params as? TaskWait.Params else { return options.timeout }
        guard let seconds = wait.timeout, seconds.isFinite else { return nil }
        return options.timeout + .seconds(min(max(seconds, 0), 31_536_000))
    }
}
