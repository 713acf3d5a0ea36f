import XferCore
import XferModel
import XferSystem

/// A running attempt: one or more hops, one after the other, until an outcome.
///
/// It owns the state that outlives a hop: the plan, the received body, the limits and timeouts. `Hop` owns one
/// request and its response. Confined to the loop's thread; handles are changed only outside libcurl's callbacks.
///
/// Invariant: `finished` is sent exactly once, as the last event, and nothing is written after it.
final class AttemptRun {
    /// The step after a hop.
    enum Next {
        case hop(HTTPURL, HTTPMethod)
        case ask(RequestPlan)
        /// The same request over a new connection: nothing of it was sent.
        case reconnect
        /// The same request over an address that was left out: there is no other, and nothing of it was sent.
        case otherAddress
        case finish(AttemptOutcome.Result)
    }

    let id: AttemptID
    let progress: AttemptProgress
    let beganAt = Clocks.wall()
    private var receiveLimit: ReceiveLimit
    unowned let core: EngineCore
    let attempt: Attempt
    /// The cookies that the attempt brought with it; nil if there are none.
    private(set) lazy var ownCookies: CookieJar? = makeOwnCookies()
    let events = AttemptEvents()
    private var isEnded = false
    /// Whether only a digest can show that the body was not cut off.
    private var isEndUnproven = false
    /// The present hop; nil before the first one, and after the outcome.
    private var hop: Hop?
    /// The request of the present hop, or of the next one.
    private var request: HopRequest
    private var redirects: RedirectRules
    private(set) var received: ReceivedBody
    private var history = HopHistory()
    private var pacing: Pacing
    /// The run's deadline in the loop's heap; see `EngineCore.schedule`.
    var wakesAt: MonotonicInstant?

    init(id: AttemptID, attempt: Attempt, core: EngineCore) {
        self.id = id
        self.attempt = attempt
        self.core = core
        receiveLimit = ReceiveLimit(own: max(0, attempt.maxReceiveRate))
        redirects = RedirectRules(
            policy: attempt.request.redirect, allowsDowngrade: attempt.request.allowsDowngrade)
        let isDownload = attempt.mode == .download
        let kept = isDownload ? attempt.resumeData : ResumeData()
        let plan = Self.plan(attempt, kept: kept, segment: isDownload ? attempt.segment : nil)
        request = HopRequest(url: attempt.request.url, method: attempt.request.method, plan: plan)
        received = ReceivedBody(
            kept: kept, writer: BodyWriter(sink: attempt.sink, offset: plan.offset, maxSize: plan.maxSize))
        pacing = Pacing(
            timeouts: attempt.request.timeouts, least: attempt.leastRate, rate: receiveLimit.own,
            sendRate: attempt.maxSendRate, now: core.now)
        progress = AttemptProgress(offset: plan.offset, total: kept.totalLength)
    }

    private static func plan(
        _ attempt: Attempt, kept: ResumeData, segment: Segment?, plainRange: Bool = false
    ) -> RequestPlan {
        ResumeRules.plan(
            kept: kept, segment: segment, source: attempt.request.url, method: attempt.request.method,
            allowsUnsafe: attempt.allowsUnsafeResume, joinsUnderDigest: attempt.joinsUnderDigest,
            plainRange: plainRange, conditions: attempt.conditions, acceptedStatus: attempt.request.acceptedStatus,
            acceptedTypes: attempt.request.acceptedTypes, rejectsPages: attempt.request.rejectsPages,
            part: attempt.mode == .download ? attempt.request.range : nil,
            maxSize: attempt.mode == .download ? attempt.request.maxSize : nil)
    }

    /// The plan for continuing the segment from its present state.
    func plan(segment: Segment, plainRange: Bool = false) -> RequestPlan {
        var segment = segment
        if let end = received.end { segment.end = end }
        return Self.plan(attempt, kept: received.kept, segment: segment, plainRange: plainRange)
    }

    // MARK: Commands

    func start() {
        if core.isShutDown { return finish(.stopped) }
        if request.plan.isWhole { return finish(.complete) }
        do throws(TransferError) {
            request.content = try makeContent()
        } catch {
            return finish(.failed(error))
        }
        beginHop()
    }

    private func makeContent() throws(TransferError) -> RequestContent? {
        guard request.method.allowsContent else { return nil }
        if let content = attempt.content { return try RequestContent(content) }
        return request.method.anticipatesContent ? .empty : nil
    }

    private func makeOwnCookies() -> CookieJar? {
        guard !attempt.cookies.isEmpty else { return nil }
        let jar = CookieJar()
        jar.add(attempt.cookies)
        return jar
    }

    private func dropContent() {
        request.content?.end(core)
        request.content = nil
    }

    func stop() { finish(.stopped) }

    func proceed() {
        guard let hop, hop.isHolding else { return }
        // An empty body has already ended.
        if hop.release() { return }
        changePacing { pacing, now in
            pacing.release(now)
            return nil
        }
    }

    func committed(_ offset: Int64) {
        changePacing { pacing, now in pacing.onCommitted(offset, now: now) }
    }

    /// Changes the end of the attempt's segment. Returns false, without a change, if no response reaches that offset
    /// or bytes beyond it are already written.
    func setEnd(_ end: Int64) -> Bool {
        guard !isEnded, hop?.setGoal(end) == true else { return false }
        received.end = end
        received.writer.setGoal(end)
        if received.writer.offset == end { perform(.finish(.complete)) }
        return true
    }

    func setMaxReceiveRate(_ rate: Int64) {
        receiveLimit.own = max(0, rate)
        onLimitsChanged()
        changePacing { pacing, now in
            pacing.setRate(max(0, rate), now: now)
            return nil
        }
    }

    /// The attempt's own or shared limits have changed.
    func onLimitsChanged() {
        let rate = receiveRate
        guard rate != receiveLimit.window else { return }
        receiveLimit.window = rate
        if rate > 0, mayRestart, hop?.isMultiplexed == true { return finish(.restartWithHTTP1) }
        hop?.handle?.clampWindow(rate: rate)
    }

    /// The rate of this transfer under all its limits, bytes per second; 0 is unlimited.
    var receiveRate: Int64 {
        receiveLimit.rate(sharing: core.rateShare(of: attempt.rateScopes))
    }

    /// Whether a rate limit may end the request, so that it is sent again over HTTP/1.1.
    var mayRestart: Bool { attempt.mode == .download && attempt.request.method == .get }

    func setMaxSendRate(_ rate: Int64) {
        changePacing { pacing, now in
            pacing.setSendRate(max(0, rate), now: now)
            return nil
        }
    }

    // MARK: Hops

    /// Sends the request over a connection that suits its hop.
    private func beginHop() {
        pacing.onRequest()
        core.leaveLines(self)
        receiveLimit.window = receiveRate
        progress.update { $0.setSent(0, of: request.content.map(\.length) ?? 0) }
        do throws(TransferError) {
            let spec = try attempt.session(request.url)
            let hop = Hop(request, run: self)
            self.hop = hop
            try hop.begin(spec)
            core.schedule(self, at: pacing.deadline)
        } catch {
            finish(.failed(error))
        }
    }

    /// The next step after a redirect: the hop to follow, or why it is refused.
    func follow(_ head: ResponseHead) -> Next {
        do throws(TransferError) {
            let target: HTTPURL
            do throws(URLSyntaxError) {
                target = try CurlURL.resolve(head.location ?? "", against: request.url)
            } catch {
                throw TransferError(
                    .protocolError, "\(request.url.hostKey) redirects to something that cannot be fetched: \(error)",
                    isRetriable: false, httpStatus: head.status, host: request.url.hostKey)
            }
            try redirects.onRedirect(status: head.status, from: request.url, to: target)
            events.yield(.redirected(status: head.status, from: request.url, to: target))
            askForMove()
            return .hop(target, RedirectRules.method(after: head.status, to: request.method))
        } catch {
            return .finish(.failed(error))
        }
    }

    /// Ends the present hop and performs the next step.
    func perform(_ next: Next) {
        hop?.end()
        request.needsNewConnection = false
        let addresses = request.addresses
        request.addresses = .preferred
        switch next {
        case .hop(let target, let method):
            let isNewMethod = method != request.method
            history.onRedirect(isNewMethod: isNewMethod, wasSent: hop?.sending.wasSent == true)
            if isNewMethod { dropContent() }
            request.method = method
            request.url = target
            beginHop()
        case .ask(let plan):
            request.plan = plan
            beginHop()
        case .reconnect:
            request.needsNewConnection = true
            beginHop()
        case .otherAddress:
            request.needsNewConnection = true
            request.addresses = addresses == .preferred ? .lastResort : .any
            beginHop()
        case .finish(let result):
            finish(result)
        }
    }

    /// Ends the run. After this call the run writes no more bytes.
    func finish(_ result: AttemptOutcome.Result) {
        if isEnded { return }
        isEnded = true
        hop?.end()
        if case .failed(let error) = result { hop?.recordFailure(error) }
        if hop?.sending.wasSent == true { history.requestWasSent = true }
        let codings = hop?.response.codings ?? []
        hop = nil
        dropContent()
        var outcome = AttemptOutcome(
            result: result, offset: received.writer.offset, total: received.kept.totalLength, finalURL: request.url,
            head: history.head, body: received.writer.collected, spilledLength: received.writer.spilledLength,
            requestWasSent: history.requestWasSent, codings: codings, resumeData: received.kept)
        outcome.trace = progress.snapshot.trace
        if isEndUnproven, result == .complete { outcome.unprovenEnd = attempt.endDigest }
        // Before the event: its receiver may start another attempt at once, which needs this attempt's place.
        core.forget(self)
        events.yield(.finished(outcome))
        events.finish()
        attempt.onMovable?(outcome)
    }

    // MARK: Deadlines

    func onDeadline(_ now: MonotonicInstant) {
        // The step after a discarded body is already decided, so the idle timeout does not apply to the body.
        if let (next, deadline) = hop?.drain {
            return deadline <= now ? perform(next) : core.schedule(self, at: deadline)
        }
        if pacing.expired(now) == .idleTimeout, let heard = hop?.lastAcknowledgement(now) { onActivity(heard) }
        if let reason = pacing.expired(now) {
            let error = timeout(reason)
            return finish(.failed(hop?.namingAddress(error) ?? error))
        }
        if pacing.isTooSlow(now, delays: core.loop.stalls.length) {
            return finish(.failed(hop?.namingAddress(tooSlow) ?? tooSlow))
        }
        changePacing { pacing, now in pacing.onTime(now) }
    }

    private var tooSlow: TransferError {
        let least = attempt.leastRate
        let message =
            "\(request.url.hostKey) sent fewer than \(least.rate ?? 0) bytes per second for \(least.time ?? 0) s"
        return TransferError(.tooSlow, message, host: request.url.hostKey)
    }

    private func timeout(_ reason: FailureReason) -> TransferError {
        let message =
            reason == .idleTimeout
            ? "nothing came from \(request.url.hostKey) for \(attempt.request.timeouts.idle) s"
            : "the attempt took longer than \(attempt.request.timeouts.total) s"
        let way = hop?.connection?.session.key.spec.key.proxy.map { " (through the proxy \($0))" } ?? ""
        return TransferError(reason, message + way, host: request.url.hostKey)
    }

    // MARK: Pausing

    var isReceivingPaused: Bool { pacing.isReceivingPaused }
    var isSendingPaused: Bool { pacing.isSendingPaused }

    /// Changes the pacing outside libcurl's callbacks and applies the result.
    private func changePacing(_ change: (inout Pacing, MonotonicInstant) -> Int64?) {
        if isEnded { return }
        let (wasReceivingPaused, wasSendingPaused) = (isReceivingPaused, isSendingPaused)
        let due = change(&pacing, core.now)
        if let due { events.yield(.checkpointDue(offset: due)) }
        if !wasReceivingPaused, isReceivingPaused { hop?.pauseReceiving() }
        if wasReceivingPaused && !isReceivingPaused || wasSendingPaused && !isSendingPaused { core.unpauseSoon(self) }
        core.schedule(self, at: pacing.deadline)
    }

    /// Resumes the directions that are no longer paused. The loop calls it in its turn.
    func unpause() { hop?.unpause() }

    // MARK: Limits that are shared

    /// The shared limits now let this attempt receive.
    func onReceiveTurn() { onTurn { pacing, now in pacing.wait(inLine: false, now) } }

    /// The shared limits now let this attempt send.
    func onSendTurn() { onTurn { pacing, now in pacing.wait(inLine: false, toSend: true, now) } }

    /// Resumes the transfer at once, so that its bytes are counted before the next attempt's turn.
    private func onTurn(_ change: (inout Pacing, MonotonicInstant) -> Void) {
        if isEnded { return }
        change(&pacing, core.now)
        hop?.unpause()
        core.schedule(self, at: pacing.deadline)
    }

    // MARK: Calls by the hop, inside libcurl's callbacks

    /// Whether the shared limits let this attempt receive; if not, it waits for its turn.
    func mayReceive(_ now: MonotonicInstant) -> Bool {
        let isAdmitted = core.mayTake(.receive, self, now: now)
        if !isAdmitted { pacing.wait(inLine: true, now) }
        return isAdmitted
    }

    /// Whether the shared limits let this attempt send; if not, it waits for its turn.
    func maySend() -> Bool {
        let now = core.now
        let isAdmitted = core.mayTake(.send, self, now: now)
        if !isAdmitted { pacing.wait(inLine: true, toSend: true, now) }
        return isAdmitted
    }

    /// The connection is established.
    func onConnected() {
        onActivity(core.now)
        core.schedule(self, at: pacing.deadline)
    }

    /// The server has sent something.
    func onActivity(_ now: MonotonicInstant) { pacing.onActivity(now) }

    func onHead(_ head: ResponseHead) { history.head = head }

    func setTrace(_ trace: AttemptTrace) { progress.update { $0.trace = trace } }

    /// Begins to write a response body.
    ///
    /// - Parameter isNew: whether the body replaces kept bytes; it is then written once the manager calls `proceed`.
    /// - Throws: if the body cannot fit.
    func beginBody(_ body: BodyPlan, keeping: ResumeData, isNew: Bool) throws(TransferError) {
        received.kept = keeping
        try received.writer.begin(body)
        if case .file = received.writer.sink, attempt.mode == .download, isNew || !pacing.isWatching {
            pacing.watch(from: body.offset, limits: attempt.checkpoints, sharing: attempt.stake)
        }
        progress.update { snapshot in
            snapshot.isTransferring = true
            snapshot.offset = body.offset
            snapshot.total = body.total
        }
        if isNew { pacing.hold(core.now) }
        pacing.expectBytes(core.now, delays: core.loop.stalls.length)
        core.schedule(self, at: pacing.deadline)
    }

    /// The answer is doubted, and nothing of it is written: the doubt belongs to what is kept.
    func onDoubt(_ keeping: ResumeData) { received.kept = keeping }

    /// The body may have been cut off where it ended. A digest will tell.
    func onUnprovenEnd() { isEndUnproven = true }

    /// Whether the body waits until the caller moves it to a file.
    func mustMove(_ body: BodyPlan) -> Bool { received.writer.waits(for: body) }

    /// A movable attempt has something to report before its end.
    func askForMove() {
        guard case .movable = received.writer.sink else { return }
        attempt.onMovable?(nil)
    }

    /// Writes the body to this file from now on, and what was collected of it; see `TransferEngine.move`.
    func move(to descriptor: Int32) {
        guard !isEnded else { return }
        if let failure = received.writer.move(to: descriptor) { return finish(.failed(failure)) }
        // A body that has not begun is watched from its beginning.
        guard progress.snapshot.isTransferring else { return }
        pacing.watch(from: 0, limits: attempt.checkpoints, sharing: attempt.stake)
        proceed()
    }

    /// Up to `length` bytes of the answer that is being received, and how many there are. Nil if there is none, or if
    /// they are not the bytes of the result, since a coding has to be undone.
    func answer(at offset: Int64, upTo length: Int) -> AnswerPart? {
        guard attempt.mode == .exchange, let hop, hop.isReceivingAnswer, hop.response.codings.isEmpty else {
            return nil
        }
        return AnswerPart(
            bytes: received.writer.read(at: offset, upTo: length), received: received.writer.offset, beganAt: beganAt)
    }

    /// Writes a part of the body at its offset.
    func write(_ bytes: UnsafeRawBufferPointer) -> BodyWriter.Progress {
        let result = received.writer.write(bytes, host: request.url.hostKey)
        let offset = received.writer.offset
        progress.update { snapshot in
            snapshot.offset = offset
            snapshot.received += Int64(bytes.count)
        }
        return result
    }

    /// Counts written bytes. Checkpoints and limits may need a pause, which libcurl accepts inside its callbacks, too.
    func onWritten(_ count: Int, now: MonotonicInstant) {
        let wasPaused = isReceivingPaused
        let due = pacing.onChunk(count, writtenTo: received.writer.offset, now: now)
        core.spend(.receive, count, by: self, now: now)
        if let due { events.yield(.checkpointDue(offset: due)) }
        if !wasPaused, isReceivingPaused { hop?.pauseReceiving() }
        core.schedule(self, at: pacing.deadline)
    }

    /// Most bytes of content that may be passed to libcurl at once.
    var sendChunk: Int {
        let shared = core.isLimited ? core.shared.rates.lowestRate(.send, in: attempt.rateScopes) : nil
        return min(pacing.sendChunk, Pacing.sendChunk(shared))
    }

    /// Most bytes that libcurl reads at once. libcurl keeps a buffer of that size for each attempt, so many attempts
    /// get small buffers: a thousand attempts hold 30 MiB.
    var readSize: Int {
        guard attempt.sink.isForFiles, attempt.mode == .download else { return 64 << 10 }
        let readSize = attempt.checkpoints.readSize(isShared: attempt.stake != nil)
        return min(readSize, Self.bufferSize(beside: core.shared.attemptCount))
    }

    private static func bufferSize(beside attempts: Int) -> Int {
        switch attempts {
        case ...32: 240 << 10
        case ...128: 64 << 10
        default: 16 << 10
        }
    }

    /// Part of the content was passed to libcurl. libcurl asks for the next part when the system has taken this one.
    func onSent(_ count: Int) {
        let now = core.now
        pacing.onActivity(now)
        pacing.onSent(count, now: now)
        core.spend(.send, count, by: self, now: now)
        core.schedule(self, at: pacing.deadline)
    }
}

extension BodySink {
    /// Whether the body is, or may have to be, written to a file of its own.
    fileprivate var isForFiles: Bool {
        switch self {
        case .file, .movable: true
        case .memory, .spilling: false
        }
    }
}
