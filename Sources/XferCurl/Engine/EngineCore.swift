import CCurl
import Glibc
import XferCore
import XferModel
import XferTrust

/// The engine's state: sessions, easy handles and running attempts.
///
/// `@unchecked Sendable`: it is touched on its loop's thread alone, by `TransferEngine`'s methods (which run there), by the
/// loop, and by libcurl's callbacks (which run inside the calls the loop makes). Every way in checks that.
final class EngineCore: LoopClient, @unchecked Sendable {
    let loop: CurlLoop
    let configuration: EngineConfiguration

    private var runs: [UInt64: AttemptRun] = [:]
    private var lastRun: UInt64 = 0
    private var sessions: [UInt32: TransferSession] = [:]
    private var pools: [TransferSession.PoolKey: TransferSession] = [:]
    private var lastSession: UInt32 = 0
    /// By file; the key nil is the system's.
    private var anchors: [String?: TrustAnchors] = [:]
    /// By name.
    private var jars: [String: CookieJar] = [:]
    private var handles: [UInt: EasyHandle] = [:]
    private var lastHandle: UInt = 0
    /// Attempts that may go on: libcurl is told outside its callbacks.
    private var toUnpause: [AttemptRun] = []
    /// Limits that attempts share.
    var rates = SharedRates()
    private(set) var isShutDown = false

    init(loop: CurlLoop, configuration: EngineConfiguration) {
        self.loop = loop
        self.configuration = configuration
    }

    /// The core whose loop the calling thread is.
    static var current: EngineCore? {
        pthread_getspecific(key).map { Unmanaged<EngineCore>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "no thread-specific key left")
        return key
    }()

    var now: MonotonicInstant { loop.clock() }

    // MARK: Commands

    func start(_ attempt: Attempt) -> AttemptHandle {
        enter()
        lastRun += 1
        let (events, continuation) = AsyncStream<AttemptEvent>.makeStream()
        let run = AttemptRun(id: AttemptID(rawValue: lastRun), attempt: attempt, core: self, events: continuation)
        runs[lastRun] = run
        run.start()
        return AttemptHandle(id: run.id, events: events, progress: run.progress)
    }

    func run(_ id: AttemptID) -> AttemptRun? {
        enter()
        return runs[id.rawValue]
    }

    func setRateLimits(_ limits: RateLimits) {
        enter()
        rates.setLimits(limits, now: now)
        for run in Array(runs.values) { run.onLimitsChanged() }
        giveTurns()
    }

    func retireSessions(where isRetired: (SessionSpec) -> Bool) {
        enter()
        for (key, session) in pools where isRetired(key.spec) {
            pools[key] = nil
            session.retire()
        }
    }

    func shutdown() {
        enter()
        isShutDown = true
        for run in runs.values { run.stop() }
        retireSessions { _ in true }
        loop.stop()
    }

    /// The thread may be a new one after `CurlLoop.stop`, so it is marked each time.
    private func enter() {
        loop.preconditionOnLoop()
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    }

    /// The jar of that name, made when it is first needed; nil without memory.
    func jar(named name: String) -> CookieJar? {
        enter()
        if let jar = jars[name] { return jar }
        jars[name] = CookieJar()
        return jars[name]
    }

    /// Requests under way keep theirs.
    func forgetJar(named name: String) {
        enter()
        jars[name] = nil
    }

    // MARK: From the loop

    func onReady(token: UInt64, mask: UInt32) {
        sessions[UInt32(truncatingIfNeeded: token >> 32)]?
            .onReady(socket: Int32(truncatingIfNeeded: token), mask: mask)
    }

    func onTurn() {
        // What becomes due by acting is acted on in the next turn, after the sockets had theirs.
        let now = now
        for _ in 0..<loop.deadlines.count {
            guard let key = loop.deadlines.popDue(now) else { break }
            switch key {
            case .session(let id): sessions[id]?.onDeadline()
            case .attempt(let id): runs[id]?.onDeadline(now)
            case .rates: break
            }
        }
        while !toUnpause.isEmpty {
            let batch = toUnpause
            toUnpause = []
            for run in batch { run.unpause() }
        }
        giveTurns()
    }

    /// Lets go on whose turn it is under the limits that are shared.
    private func giveTurns() {
        let now = now
        while let id = rates.receive.next(now) { runs[id]?.onReceiveTurn() }
        while let id = rates.send.next(now) { runs[id]?.onSendTurn() }
        loop.deadlines.set(.rates, to: rates.deadline(now))
    }

    // MARK: From attempts

    func unpauseSoon(_ run: AttemptRun) { toUnpause.append(run) }

    /// Bytes per second each attempt can receive under the limits of these scopes; nil when there is none.
    func rateShare(of scopes: [RateScope]) -> Int64? {
        rates.receive.lowestRate(in: scopes).map { max(1, $0 / Int64(max(1, runs.count))) }
    }

    func schedule(_ run: AttemptRun, at instant: MonotonicInstant?) {
        loop.deadlines.setIfEarlier(.attempt(run.id.rawValue), to: instant)
    }

    func forget(_ run: AttemptRun) {
        runs[run.id.rawValue] = nil
        rates.leave(run.id.rawValue)
        loop.deadlines.remove(.attempt(run.id.rawValue))
    }

    /// The session for a hop, made when it is first needed; nil without memory.
    func session(for key: TransferSession.PoolKey) -> TransferSession? {
        if let session = pools[key] { return session }
        lastSession += 1
        guard let session = TransferSession(id: lastSession, key: key, core: self) else { return nil }
        sessions[session.id] = session
        pools[key] = session
        return session
    }

    /// What the hop's connection is kept apart by. Sessions whose trust anchors have changed since are retired.
    func poolKey(for spec: SessionSpec, isLimited: Bool, isSecure: Bool) -> TransferSession.PoolKey {
        var key = TransferSession.PoolKey(spec: spec, isLimited: isLimited)
        guard isSecure || spec.key.hasSecureProxy else { return key }
        // Without readable anchors there is nothing to be of: the handshake says why.
        guard let generation = try? anchors(file: spec.trust.caFile).refresh() else { return key }
        key.anchorGeneration = generation
        for (other, session) in pools
        where other.spec.trust.caFile == spec.trust.caFile && 1..<generation ~= other.anchorGeneration {
            pools[other] = nil
            session.retire()
        }
        return key
    }

    func evaluator(caFile: String?) -> ServerTrustEvaluator { ServerTrustEvaluator(anchors: anchors(file: caFile)) }

    private func anchors(file: String?) -> TrustAnchors {
        if let known = anchors[file] { return known }
        let made = TrustAnchors(file: file)
        anchors[file] = made
        return made
    }

    // MARK: From sessions and callbacks

    func session(_ id: UInt32) -> TransferSession? { sessions[id] }

    func handle(_ id: UInt) -> EasyHandle? { handles[id] }

    func handle(of easy: UnsafeMutableRawPointer?) -> EasyHandle? {
        guard let easy else { return nil }
        var id: UnsafeMutableRawPointer?
        xfer_easy_get_pointer(easy, CURLINFO_PRIVATE, &id)
        return handles[UInt(bitPattern: id)]
    }

    func makeHandle() -> EasyHandle? {
        lastHandle += 1
        guard let handle = EasyHandle(id: lastHandle) else { return nil }
        handles[handle.id] = handle
        return handle
    }

    func forgetHandle(_ handle: EasyHandle) { handles[handle.id] = nil }

    func forgetSession(_ session: TransferSession) {
        sessions[session.id] = nil
        loop.deadlines.remove(.session(session.id))
    }
}
