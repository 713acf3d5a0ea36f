import CCurl
import XferCore
public import XferModel
import XferSystem

/// Transfers the bytes: runs attempts on one or more loop threads, over libcurl.
///
/// It does not depend on tasks, the store, JSON or file names. An attempt stays on its first loop over all its hops;
/// its id contains the loop, to which the engine passes calls about the attempt. A session belongs to one loop, which
/// makes it when needed. Without `shutdown`, which ends the threads, the engine exists as long as the process.
public final class TransferEngine: Sendable {
    let shared: EngineShared
    private let loops: [EngineLoop]
    private let clock: @Sendable () -> MonotonicInstant

    /// Starts the loop threads.
    ///
    /// - Throws: if the installed libcurl or the system lacks what the engine needs.
    public convenience init(configuration: EngineConfiguration) throws(EngineStartError) {
        try self.init(configuration: configuration, clock: { Clocks.monotonic() })
    }

    /// Starts the loop threads with another clock for deadlines, read in every turn; libcurl keeps its own time.
    init(
        configuration: EngineConfiguration, clock: @escaping @Sendable () -> MonotonicInstant
    ) throws(EngineStartError) {
        try CurlGlobal.start()
        self.clock = clock
        var threads: [CurlLoop] = []
        for _ in 0..<configuration.loops { threads.append(try CurlLoop(clock: clock)) }
        let shared = EngineShared(configuration: configuration, loops: threads)
        self.shared = shared
        loops = threads.indices.map { EngineLoop(index: $0, of: shared) }
    }

    /// The hosts whose `http` URLs are requested over https.
    public var strictTransport: StrictTransport { shared.configuration.strictTransport }

    /// Begins the attempt. Its events are buffered until they are read.
    public func start(_ attempt: Attempt) async -> AttemptHandle {
        await loops[shared.beginAttempt(attempt.request.url)].start(attempt)
    }

    /// Begins several attempts with one visit to each loop. Their handles are in the order of `attempts`.
    public func start(_ attempts: [Attempt]) async -> [AttemptHandle] {
        let places = attempts.map { shared.beginAttempt($0.request.url) }
        var handles: [AttemptHandle?] = Array(repeating: nil, count: attempts.count)
        for (index, loop) in loops.enumerated() {
            let own = places.indices.filter { places[$0] == index }
            guard !own.isEmpty else { continue }
            for (place, handle) in zip(own, await loop.start(own.map { attempts[$0] })) { handles[place] = handle }
        }
        return handles.compactMap(\.self)
    }

    /// Moves the body of an attempt with a movable sink to a file: the collected bytes, and those that follow. If the
    /// attempt has ended, nothing happens, and its outcome has the body.
    ///
    /// - Parameter descriptor: of an empty file; borrowed as with `BodySink.file`.
    public func move(_ id: AttemptID, to descriptor: Int32) async {
        await loops[id.loop].withAttempt(id) { $0.move(to: descriptor) }
    }

    /// Ends the attempt with `stopped`, unless it has ended. After the return the attempt writes no more bytes.
    public func stop(_ id: AttemptID) async { await loops[id.loop].withAttempt(id) { $0.stop() } }

    /// Allows an attempt whose head was judged `restart` to write. Call it when the discarding of the kept bytes is
    /// durable.
    public func proceed(_ id: AttemptID) async { await loops[id.loop].withAttempt(id) { $0.proceed() } }

    /// Writes the body of an attempt whose head was judged `restart` to another file. Call it before `proceed`.
    ///
    /// - Parameter descriptor: of an empty file; borrowed as with `BodySink.file`.
    public func redirect(_ id: AttemptID, to descriptor: Int32) async {
        await loops[id.loop].withAttempt(id) { $0.redirect(to: descriptor) }
    }

    /// Reports that the bytes below the offset are durable and that the offset is committed.
    public func committed(_ id: AttemptID, offset: Int64) async {
        await loops[id.loop].withAttempt(id) { $0.committed(offset) }
    }

    /// Moves the end of the attempt's segment to this offset: earlier, so that another attempt can fetch the rest, or
    /// later. Returns false if the attempt has written beyond the offset, has no response yet, or has a response that
    /// ends before the offset.
    public func setEnd(_ id: AttemptID, _ offset: Int64) async -> Bool {
        await loops[id.loop].withAttempt(id) { $0.setEnd(offset) } ?? false
    }

    /// Sets the receive limit, bytes per second; 0 is unlimited. A limit ends a running HTTP/2 download with
    /// `restartWithHTTP1`.
    public func setMaxReceiveRate(_ id: AttemptID, _ rate: Int64) async {
        await loops[id.loop].withAttempt(id) { $0.setMaxReceiveRate(rate) }
    }

    /// Sets the send limit, bytes of content per second; 0 is unlimited.
    public func setMaxSendRate(_ id: AttemptID, _ rate: Int64) async {
        await loops[id.loop].withAttempt(id) { $0.setMaxSendRate(rate) }
    }

    /// Sets the limits that attempts on all loops share. A limit applies to the attempts that list its scope
    /// (`Attempt.rateScopes`), and to running ones at once. HTTP/2 downloads in the scope of a receive limit end with
    /// `restartWithHTTP1`.
    public func setRateLimits(_ limits: RateLimits) async {
        shared.rates.setLimits(limits, now: clock())
        for loop in loops { await loop.onRateLimits() }
    }

    /// Replaces the limits of one scope, 0 is unlimited; see `setRateLimits`.
    public func setRates(_ rates: BandwidthLimits, of scope: RateScope) async {
        shared.rates.setRates(rates, of: scope, now: clock())
        for loop in loops { await loop.onRateLimits() }
    }

    /// Stops the use of matching sessions for new requests. Running requests continue to their end; then the engine
    /// closes the connections.
    public func retireSessions(where isRetired: @Sendable (SessionSpec) -> Bool) async {
        for loop in loops { await loop.retireSessions(where: isRetired) }
    }

    /// Returns up to `length` bytes, from `offset` on, of the answer that an attempt in exchange mode is receiving; nil
    /// if it receives none, or one with a content coding.
    public func answer(of id: AttemptID, at offset: Int64, upTo length: Int) async -> AnswerPart? {
        await loops[id.loop].withAttempt(id) { $0.answer(at: offset, upTo: length) } ?? nil
    }

    /// Clears the record of addresses that did not answer, since the network has changed.
    public func forgetAddresses() { shared.forgetAddresses() }

    /// Ends every attempt with `stopped`, closes every connection and ends the threads. Later attempts end at once.
    public func shutdown() async {
        for loop in loops { await loop.shutdown() }
    }

    // MARK: Cookies

    /// Adds cookies to the jar of that name, and makes the jar if there is none. Lines have the Netscape format that
    /// `cookies(in:)` returns.
    public func addCookies(_ lines: [String], to jar: String) { shared.jar(named: jar).add(lines) }

    /// The jar's cookies, one line each, with fields separated by tabs: domain, whether it is sent to subdomains,
    /// path, whether it is sent over https only, expiry (seconds since 1970; 0 is the end of the session), name, value.
    public func cookies(in jar: String) -> [String] { shared.jar(named: jar).lines }

    /// Replaces all cookies in the jar by these.
    public func replaceCookies(in jar: String, by lines: [String]) {
        shared.jar(named: jar).replaceAll(by: lines)
    }

    /// Removes the jar; attempts that use it continue with its old content.
    public func forgetCookies(in jar: String) { shared.forgetJar(named: jar) }

    // MARK: For tests

    /// Number of times the loops have woken up; reading it wakes each loop once.
    var turns: Int {
        get async {
            var sum = 0
            for loop in loops { sum += await loop.turns }
            return sum
        }
    }

    /// True if every loop sleeps and no deadline will wake it.
    var isResting: Bool { shared.loops.allSatisfy(\.isResting) }

    /// True if the attempt's receiving is paused; nil after the attempt's end.
    func isPaused(_ id: AttemptID) async -> Bool? { await loops[id.loop].isPaused(id) }
}

/// Settings of an engine for all its attempts.
public struct EngineConfiguration: Sendable {
    /// The `User-Agent` of requests that do not set their own, for example `xferd/1.0.0`.
    public var userAgent: String
    /// The number of threads that move bytes, 1 … `maxLoops`.
    public var loops: Int
    /// The number of idle connections that the first session may keep for later requests; later sessions keep fewer.
    public var keptConnections: Int
    /// The hosts whose `http` URLs are requested over https.
    public var strictTransport: StrictTransport
    /// The losses of a request's connection; tests give their own.
    var losses: @Sendable (EasyHandle) -> ConnectionLosses? = { $0.losses }

    public static let maxLoops = 8

    /// - Parameter strictTransport: nil begins without such hosts.
    public init(
        userAgent: String, loops: Int = 1, keptConnections: Int = 32, strictTransport: StrictTransport? = nil
    ) {
        self.strictTransport = strictTransport ?? StrictTransport(clock: Clocks.wall)
        self.userAgent = userAgent
        self.loops = min(max(loops, 1), Self.maxLoops)
        self.keptConnections = keptConnections
    }
}

/// The reason why the engine cannot run here.
public enum EngineStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libcurl's TLS backend is not OpenSSL. With another backend the TLS callbacks have another meaning.
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

/// libcurl's process-wide state. It is initialised once and never released.
enum CurlGlobal {
    static func start() throws(EngineStartError) { try outcome.get() }

    private static let outcome: Result<Void, EngineStartError> = {
        let code = curl_global_init(Int(CURL_GLOBAL_ALL))
        guard code == CURLE_OK else {
            return .failure(.initialisationFailed(String(cString: curl_easy_strerror(code))))
        }
        let tls =
            curl_version_info(xfer_curl_version_now)?.pointee.ssl_version.map { String(cString: $0) } ?? "no TLS at all"
        return tls.hasPrefix("OpenSSL/") ? .success(()) : .failure(.notOpenSSL(found: tls))
    }()
}

/// The totals of an engine's work since it was created.
public struct EngineFigures: Hashable, Sendable {
    /// The number of attempts that run.
    public var attemptCount: Int
    /// The number of requests that have ended.
    public var requestCount: Int64
    /// The number of connections that were made for them; the other requests used existing ones.
    public var connectionCount: Int64
    public var stalls: LoopStalls
}

/// The number and duration of turns of the engine's loops that were so long that other transfers had to wait.
public struct LoopStalls: Hashable, Sendable {
    public var count: Int64 = 0
    public var length = Duration.zero
}

extension TransferEngine {
    /// The totals of the engine's work so far. Wakes no loop.
    public var figures: EngineFigures { shared.figures }
}
