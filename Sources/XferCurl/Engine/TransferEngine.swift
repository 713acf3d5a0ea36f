public import XferModel

/// Moves the bytes: runs attempts on one loop thread, over libcurl.
///
/// Knows nothing of tasks, the store, JSON or files' names. `shutdown` ends its thread; without it the engine lives as long
/// as the process.
public actor TransferEngine {
    private nonisolated let loop: CurlLoop
    let core: EngineCore

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Throws when the libcurl or the system at hand cannot be used.
    public init(configuration: EngineConfiguration) throws(EngineStartError) {
        try self.init(configuration: configuration, clock: { Clocks.now })
    }

    /// With another clock for deadlines, which is looked at in every turn; libcurl keeps its own time.
    init(
        configuration: EngineConfiguration, clock: @escaping @Sendable () -> MonotonicInstant
    ) throws(EngineStartError) {
        try CurlGlobal.start()
        loop = try CurlLoop(clock: clock)
        core = EngineCore(loop: loop, configuration: configuration)
        loop.attach(core)
    }

    /// Begins the attempt. Its events are buffered until they are read.
    public func start(_ attempt: Attempt) -> AttemptHandle { core.start(attempt) }

    /// Ends the attempt with `stopped`, unless it has ended. After the return nothing is written any more.
    public func stop(_ id: AttemptID) { core.run(id)?.stop() }

    /// The kept bytes are dropped, durably: an attempt whose head was judged `restart` may write.
    public func proceed(_ id: AttemptID) { core.run(id)?.proceed() }

    /// The bytes below the offset are durable and the offset is committed.
    public func committed(_ id: AttemptID, offset: Int64) { core.run(id)?.committed(offset) }

    /// The part the attempt fetches ends at this offset from now on: earlier, so that somebody else may fetch the rest, or
    /// later. Answers whether it does; it does not where it has written more, has no response yet or one that ends before.
    public func setEnd(_ id: AttemptID, _ offset: Int64) -> Bool { core.run(id)?.setEnd(offset) ?? false }

    /// Bytes per second, 0 is unlimited. On a running HTTP/2 download a limit ends the attempt with `restartWithHTTP1`.
    public func setMaxReceiveRate(_ id: AttemptID, _ rate: Int64) { core.run(id)?.setMaxReceiveRate(rate) }

    /// Bytes of content per second, 0 is unlimited.
    public func setMaxSendRate(_ id: AttemptID, _ rate: Int64) { core.run(id)?.setMaxSendRate(rate) }

    /// Limits that attempts share, each among those that name its scope (`Attempt.rateScopes`). In force at once, also for
    /// what runs; HTTP/2 downloads in the scope of a receive limit end with `restartWithHTTP1`.
    public func setRateLimits(_ limits: RateLimits) { core.setRateLimits(limits) }

    /// Opens no new requests on the sessions that match; what runs on them ends in peace, then their connections close.
    public func retireSessions(where isRetired: @Sendable (SessionSpec) -> Bool) {
        core.retireSessions(where: isRetired)
    }

    /// Ends every attempt with `stopped`, closes every connection and ends the thread. Later attempts end at once.
    public func shutdown() { core.shutdown() }

    // MARK: For tests

    /// How often the loop has woken up; asking wakes it once.
    var turns: Int { loop.turns }

    /// Whether the loop sleeps and no deadline will wake it.
    nonisolated var isResting: Bool { loop.isResting }

    /// Whether something holds the attempt's reading back; nil after its end.
    func isPaused(_ id: AttemptID) -> Bool? { core.run(id)?.isReceivingPaused }
}

/// What all attempts of an engine have in common.
public struct EngineConfiguration: Sendable {
    /// Sent unless the request brings its own, for example `xferd/1.0.0`.
    public var userAgent: String

    public init(userAgent: String) {
        self.userAgent = userAgent
    }
}

/// Why the engine cannot run here.
public enum EngineStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The TLS callbacks mean something else on other backends.
    case notOpenSSL(found: String)
    case initialisationFailed(String)
    case system(call: String, errno: Int32)

    public var description: String {
        switch self {
        case .notOpenSSL(let found): "libcurl has to be built with OpenSSL, found \(found)"
        case .initialisationFailed(let detail): "libcurl cannot be initialised: \(detail)"
        case .system(let call, let errno): "\(call) failed with errno \(errno)"
        }
    }
}
