import CCurl
import Glibc
import XferCore
import XferModel
import XferSystem

/// A loop's state: sessions, easy handles and running attempts.
///
/// `@unchecked Sendable`: it is used on its loop's thread alone, by `EngineLoop`'s methods (which run there), by the
/// loop, and by libcurl's callbacks (which run inside the calls the loop makes). Every entry point checks that.
final class EngineCore: LoopClient, @unchecked Sendable {
    /// The position of this loop among the engine's loops.
    let index: Int
    let loop: CurlLoop
    let shared: EngineShared

    private var runs: [UInt64: AttemptRun] = [:]
    private var lastRun: UInt64 = 0
    private var sessions: [UInt32: TransferSession] = [:]
    private var pools: [TransferSession.PoolKey: TransferSession] = [:]
    private var lastSession: UInt32 = 0
    /// The anchors by the path of the authorities' file; the key nil is the system's.
    private var anchors: [String?: TrustAnchors] = [:]
    private var handles: [UInt: EasyHandle] = [:]
    /// The handle of the last callback; the next callback is usually for the same one.
    private var recentHandle: EasyHandle?
    private var lastHandle: UInt = 0
    /// Attempts to resume: libcurl's handles must not be changed within its callbacks.
    private var toUnpause: [AttemptRun] = []
    /// TLS connections whose end is the end of a body, by the address of their `SSL`. The value is true once
    /// close_notify has arrived.
    private var watchedEnds: [UnsafeMutableRawPointer: Bool] = [:]
    /// True if there are limits that attempts share. Without any, attempts skip the check.
    private(set) var isLimited = false
    private(set) var isShutDown = false

    init(index: Int, shared: EngineShared) {
        self.index = index
        self.shared = shared
        loop = shared.loops[index]
    }

    var configuration: EngineConfiguration { shared.configuration }

    private static let ofThread = ThreadLocal<EngineCore>()

    /// The core of the loop that runs on the calling thread.
    static var current: EngineCore? { ofThread.current }

    var now: MonotonicInstant { loop.clock() }

    // MARK: Commands

    func start(_ attempt: Attempt) -> AttemptHandle {
        enter()
        lastRun += 1
        let run = AttemptRun(id: AttemptID(loop: index, number: lastRun), attempt: attempt, core: self)
        runs[lastRun] = run
        run.start()
        return AttemptHandle(id: run.id, events: run.events, progress: run.progress)
    }

    func run(_ id: AttemptID) -> AttemptRun? {
        enter()
        return runs[id.number]
    }

    /// Applies changed shared limits.
    func onRateLimits() {
        enter()
        isLimited = shared.rates.isLimited
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

    /// Marks the current thread as the loop's. It may be a new one after `CurlLoop.stop`, so it is marked each time.
    private func enter() {
        loop.preconditionOnLoop()
        Self.ofThread.current = self
    }

    // MARK: From the loop

    func onReady(token: UInt64, mask: UInt32) {
        sessions[UInt32(truncatingIfNeeded: token >> 32)]?
            .onReady(socket: Int32(truncatingIfNeeded: token), mask: mask)
    }

    func onTurn() {
        // Deadlines that become due by these actions are handled in the next turn, after the sockets.
        let now = now
        for _ in 0..<loop.deadlines.count {
            guard let key = loop.deadlines.popDue(now) else { break }
            switch key {
            case .session(let id): sessions[id]?.onDeadline()
            case .idleSession(let id): closeIdle(id)
            case .attempt(let id):
                runs[id]?.wakesAt = nil
                runs[id]?.onDeadline(now)
            case .rates: break
            }
        }
        while !toUnpause.isEmpty {
            let batch = toUnpause
            toUnpause = []
            for run in batch { run.unpause() }
        }
        if isLimited { giveTurns() }
    }

    /// Resumes the attempts whose turn has come under the shared limits.
    private func giveTurns() {
        let now = now
        let rates = shared.rates
        var gave = false
        while let id = rates.next(.receive, on: index, now: now) {
            gave = true
            runs[id.number]?.onReceiveTurn()
        }
        while let id = rates.next(.send, on: index, now: now) {
            gave = true
            runs[id.number]?.onSendTurn()
        }
        loop.deadlines.set(.rates, to: rates.deadline(on: index, now: now))
        if gave { shared.wakeFirsts(except: index) }
    }

    // MARK: From attempts

    func unpauseSoon(_ run: AttemptRun) { toUnpause.append(run) }

    /// The bytes per second that each attempt can receive under the limits of these scopes; nil when there is none.
    func rateShare(of scopes: [RateScope]) -> Int64? {
        guard isLimited, let rate = shared.rates.lowestRate(.receive, in: scopes) else { return nil }
        return max(1, rate / Int64(clamping: max(1, shared.attemptCount)))
    }

    /// Returns true if the attempt's shared limits let it continue. Otherwise the attempt is queued.
    func mayTake(_ direction: SharedRates.Direction, _ run: AttemptRun, now: MonotonicInstant) -> Bool {
        !isLimited || shared.rates.mayTake(direction, run.id, in: run.attempt.rateScopes, now: now)
    }

    func spend(_ direction: SharedRates.Direction, _ count: Int, by run: AttemptRun, now: MonotonicInstant) {
        guard isLimited else { return }
        shared.rates.spend(direction, count, by: run.id, in: run.attempt.rateScopes, now: now)
    }

    /// Removes the attempt from all queues.
    func leaveLines(_ run: AttemptRun) {
        guard isLimited else { return }
        shared.rates.leave(run.id)
        shared.wakeFirsts(except: index)
    }

    /// Sets the earliest instant at which the attempt wants to be called.
    func schedule(_ run: AttemptRun, at instant: MonotonicInstant?) {
        guard let instant, run.wakesAt.map({ instant < $0 }) ?? true else { return }
        run.wakesAt = instant
        loop.deadlines.setIfEarlier(.attempt(run.id.number), to: instant)
    }

    func forget(_ run: AttemptRun) {
        runs[run.id.number] = nil
        leaveLines(run)
        loop.deadlines.remove(.attempt(run.id.number))
        shared.endAttempt(on: index)
    }

    /// The session for a hop, made when it is first needed; nil without memory.
    func session(for key: TransferSession.PoolKey) -> TransferSession? {
        if let session = pools[key] { return session }
        lastSession += 1
        let kept = configuration.keptConnections / configuration.loops / (sessions.count + 1)
        guard let session = TransferSession(id: lastSession, key: key, keptConnections: kept, core: self) else {
            return nil
        }
        sessions[session.id] = session
        pools[key] = session
        return session
    }

    /// The key of the hop's connection pool. Sessions whose trust anchors have changed since are retired.
    func poolKey(for spec: SessionSpec, isLimited: Bool, isSecure: Bool) -> TransferSession.PoolKey {
        var key = TransferSession.PoolKey(spec: spec, isLimited: isLimited)
        guard isSecure || spec.key.hasSecureProxy else { return key }
        // Without readable anchors there is no generation; the handshake reports the error.
        guard let generation = try? anchors(file: spec.trust.caFile).refresh() else { return key }
        key.anchorGeneration = generation
        for (other, session) in pools
        where other.spec.trust.caFile == spec.trust.caFile && 1..<generation ~= other.anchorGeneration {
            pools[other] = nil
            session.retire()
        }
        return key
    }

    /// The number of files of authorities that are kept in memory.
    private static let maxAnchors = 32

    func evaluator(caFile: String?) -> ServerTrustEvaluator { ServerTrustEvaluator(anchors: anchors(file: caFile)) }

    private func anchors(file: String?) -> TrustAnchors {
        if let known = anchors[file] { return known }
        // Tasks may name files of their own.
        if anchors.count >= Self.maxAnchors { anchors = [:] }
        let made = TrustAnchors(file: file)
        anchors[file] = made
        return made
    }

    // MARK: From sessions and callbacks

    func session(_ id: UInt32) -> TransferSession? { sessions[id] }

    func handle(_ id: UInt) -> EasyHandle? {
        if let recentHandle, recentHandle.id == id { return recentHandle }
        recentHandle = handles[id]
        return recentHandle
    }

    func handle(of easy: UnsafeMutableRawPointer?) -> EasyHandle? {
        guard let easy else { return nil }
        var id: UnsafeMutableRawPointer?
        xfer_easy_get_pointer(easy, CURLINFO_PRIVATE, &id)
        return handle(UInt(bitPattern: id))
    }

    func makeHandle() -> EasyHandle? {
        lastHandle += 1
        guard let handle = EasyHandle(id: lastHandle) else { return nil }
        handles[handle.id] = handle
        return handle
    }

    func forgetHandle(_ handle: EasyHandle) {
        handles[handle.id] = nil
        if recentHandle === handle { recentHandle = nil }
    }

    // MARK: Ends of TLS connections

    /// Watches a TLS connection whose end is the end of a body. The hop that waits for it ends the watch, so there are
    /// at most as many entries as hops.
    func watchEnd(of tls: UnsafeMutableRawPointer) { watchedEnds[tls] = false }

    func stopWatchingEnd(of tls: UnsafeMutableRawPointer) { watchedEnds[tls] = nil }

    /// The server sent close_notify.
    func onCloseNotify(_ tls: UnsafeMutableRawPointer) {
        if watchedEnds[tls] != nil { watchedEnds[tls] = true }
    }

    /// True if the server has ended the connection with close_notify.
    func hasEnded(_ tls: UnsafeMutableRawPointer) -> Bool { watchedEnds[tls] ?? false }

    /// Closes an idle session; the next request of its kind gets a new one.
    private func closeIdle(_ id: UInt32) {
        guard let session = sessions[id], session.isIdle else { return }
        if pools[session.key] === session { pools[session.key] = nil }
        session.retire()
    }

    func forgetSession(_ session: TransferSession) {
        sessions[session.id] = nil
        loop.deadlines.remove(.idleSession(session.id))
        loop.deadlines.remove(.session(session.id))
    }
}

/// One loop of the engine: the actor that runs on it and gives access to its state.
actor EngineLoop {
    private nonisolated let loop: CurlLoop
    let core: EngineCore

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(index: Int, of shared: EngineShared) {
        loop = shared.loops[index]
        core = EngineCore(index: index, shared: shared)
        loop.attach(core)
    }

    func start(_ attempt: Attempt) -> AttemptHandle { core.start(attempt) }

    func start(_ attempts: [Attempt]) -> [AttemptHandle] { attempts.map(core.start) }

    /// Calls `body` with the attempt, or returns nil if the attempt has ended.
    @discardableResult
    func withAttempt<Value: Sendable>(_ id: AttemptID, _ body: @Sendable (AttemptRun) -> Value) -> Value? {
        core.run(id).map(body)
    }

    /// Applies changed shared limits.
    func onRateLimits() { core.onRateLimits() }

    func retireSessions(where isRetired: @Sendable (SessionSpec) -> Bool) { core.retireSessions(where: isRetired) }

    func shutdown() { core.shutdown() }

    /// The number of times that the loop has woken up. The call itself wakes it once.
    var turns: Int { loop.turns }

    /// True if the attempt's receiving is paused; nil after the attempt's end.
    func isPaused(_ id: AttemptID) -> Bool? { core.run(id)?.isReceivingPaused }
}
