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
        case request(RequestPlan)
        /// The same request over a new connection, because nothing of it was sent.
        case reconnect
        /// The same request over an avoided address, because the name has no other address and nothing was sent.
        case otherAddress
        case finish(AttemptOutcome.Result)
    }

    let id: AttemptID
    let progress: AttemptProgress
    let beganAt = Clocks.wall()
    var receiveLimit: ReceiveLimit
    unowned let core: EngineCore
    let attempt: Attempt
    /// The URL of the first request. Fields that are secret are sent to its origin only.
    private(set) var home: HTTPURL
    private(set) var credential: ResolvedCredential?
    /// The cookies of the attempt's configuration or profile, or else those that its responses have set, which end with
    /// it; nil while there are none.
    private(set) lazy var cookies: CookieJar? = initialCookies()
    let events = AttemptEvents()
    private(set) var isEnded = false
    /// True if only a digest can show that the body was not cut off.
    private var isEndUnproven = false
    /// The present hop; nil before the first one, and after the outcome.
    private(set) var hop: Hop?
    /// The request of the present hop, or of the next one.
    private(set) var request: HopRequest
    /// Evidence that the server honours `If-Range`. The next requests of the attempt go to the same URL.
    var proof = ConditionProof.none
    private var redirects: RedirectRules
    private(set) var received: ReceivedBody
    private var history = HopHistory()
    var pacing: Pacing
    /// The run's deadline in the loop's heap; see `EngineCore.schedule`.
    var wakesAt: MonotonicInstant?

    init(id: AttemptID, attempt: Attempt, core: EngineCore) {
        self.id = id
        self.attempt = attempt
        self.core = core
        home = attempt.request.url
        credential = attempt.credential
        receiveLimit = ReceiveLimit(own: max(0, attempt.maxReceiveRate))
        redirects = RedirectRules(attempt.request)
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
        _ attempt: Attempt, kept: ResumeData, segment: Segment?, plainRange: Bool = false,
        proof: ConditionProof = .none
    ) -> RequestPlan {
        ResumeRules.plan(
            kept: kept, segment: segment, source: attempt.request.url, method: attempt.request.method,
            allowsUnsafe: attempt.allowsUnsafeResume, joinsUnderDigest: attempt.joinsUnderDigest,
            plainRange: plainRange, proof: proof, isRangeRefused: attempt.isRangeRefused,
            conditions: attempt.conditions, acceptedStatus: attempt.request.acceptedStatus,
            acceptedTypes: attempt.request.acceptedTypes, rejectsPages: attempt.request.rejectsPages,
            part: attempt.mode == .download ? attempt.request.range : nil,
            maxSize: attempt.mode == .download ? attempt.request.maxSize : nil)
    }

    /// The plan for continuing the segment from its present state.
    func plan(segment: Segment, plainRange: Bool = false) -> RequestPlan {
        var segment = segment
        if let end = received.end { segment.end = end }
        return Self.plan(attempt, kept: received.kept, segment: segment, plainRange: plainRange, proof: proof)
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

    private func initialCookies() -> CookieJar? {
        guard !attempt.cookies.isEmpty else { return attempt.cookieJar.map { core.shared.jar(named: $0) } }
        let jar = CookieJar()
        jar.add(attempt.cookies)
        return jar
    }

    /// The jar for cookies that a response sets. Without a jar of its own, the attempt gets one for its next hops: many
    /// servers set a cookie and redirect, and redirect again if it is missing.
    func jarForResponse() -> CookieJar {
        if let cookies { return cookies }
        let jar = CookieJar()
        cookies = jar
        return jar
    }

    private func dropContent() {
        request.content?.end(core)
        request.content = nil
    }

    func stop() { finish(.stopped) }

    func proceed() {
        guard let hop, hop.waitsForCaller else { return }
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

    // MARK: Hops

    /// Sends the request over a connection that suits its hop.
    private func beginHop() {
        pacing.onRequest()
        core.leaveLines(self)
        receiveLimit.window = receiveRate
        progress.update { $0.setSent(0, of: request.content.map(\.length) ?? 0) }
        do throws(TransferError) {
            try secure()
            let spec = try attempt.session(request.url)
            let hop = Hop(request, run: self)
            self.hop = hop
            try hop.begin(spec)
            core.schedule(self, at: pacing.deadline)
        } catch {
            finish(.failed(error))
        }
    }

    /// Replaces an `http` URL of a host that has demanded https. The secrets for the URL's origin are sent to the new
    /// URL, too: the host is the same and proves its identity.
    private func secure() throws(TransferError) {
        guard let secured = try core.shared.configuration.strictTransport.secured(request.url) else { return }
        onUpgrade(of: request.url, to: secured)
        request.url = secured
    }

    private func onUpgrade(of url: HTTPURL, to secured: HTTPURL) {
        events.yield(.redirected(status: 307, from: url, to: secured, .upgraded))
        requestMove()
        if home == url { home = secured }
        if credential?.origins.contains(url.origin) == true { credential?.origins.append(secured.origin) }
    }

    /// The next step after a redirect: the hop to follow, or the reason to refuse it. Nil if the redirect's response is
    /// the result.
    func follow(_ head: ResponseHead) -> Next? {
        let resolved = Result { () throws(URLSyntaxError) in
            try CurlURL.resolve(head.location ?? "", against: request.url)
        }
        func report(_ target: HTTPURL, _ decision: RedirectDecision) {
            events.yield(.redirected(status: head.status, from: request.url, to: target, decision))
            requestMove()
        }
        if redirects.delivers(status: head.status) {
            if case .success(let target) = resolved { report(target, .delivered) }
            return nil
        }
        switch resolved {
        case .failure(let error):
            return .finish(
                .failed(
                    TransferError(
                        .protocolError,
                        "\(request.url.hostKey) redirects to something that cannot be fetched: \(error)",
                        isRetriable: false, httpStatus: head.status, host: request.url.hostKey)))
        case .success(let target):
            do throws(TransferError) {
                let secured = try core.shared.configuration.strictTransport.secured(target)
                try redirects.onRedirect(status: head.status, from: request.url, to: secured ?? target)
                report(target, .followed)
                // Requested as it was judged: the host may be forgotten before the next hop begins.
                if let secured { onUpgrade(of: target, to: secured) }
                return .hop(secured ?? target, RedirectRules.method(after: head.status, to: request.method))
            } catch {
                report(target, .refused)
                return .finish(.failed(error))
            }
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
        case .request(let plan):
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

    // MARK: Calls by the hop, inside libcurl's callbacks

    /// Called when the connection is established.
    func onConnected() {
        onActivity(core.now)
        core.schedule(self, at: pacing.deadline)
    }

    /// Called when the server has sent something.
    func onActivity(_ now: MonotonicInstant) { pacing.onActivity(now) }

    func onHead(_ head: ResponseHead) { history.head = head }

    func setTrace(_ trace: AttemptTrace) { progress.update { $0.trace = trace } }

    /// Begins to write a response body.
    ///
    /// - Parameter isNew: true if the body replaces kept bytes; it is then written once the manager calls `proceed`.
    /// - Throws: if the body cannot fit.
    func beginBody(_ body: BodyPlan, keeping: ResumeData, isNew: Bool) throws(TransferError) {
        received.kept = keeping
        try received.writer.begin(body)
        if case .file = received.writer.sink, attempt.mode == .download, isNew || !pacing.isWatching {
            pacing.watch(from: body.offset, limits: attempt.checkpoints, sharing: attempt.unsynced)
        }
        progress.update { snapshot in
            snapshot.isTransferring = true
            snapshot.offset = body.offset
            snapshot.total = body.total
        }
        if isNew { pacing.pauseForCaller(core.now) }
        pacing.expectBytes(core.now, delays: core.loop.stalls.length)
        core.schedule(self, at: pacing.deadline)
    }

    /// Ends the attempt because the answer is doubtful. Nothing of it is written: the doubt belongs to the kept bytes.
    func onDoubt(_ keeping: ResumeData) { received.kept = keeping }

    /// Records that the body may have been cut off at its end. Its digest decides whether it was.
    func onUnprovenEnd() { isEndUnproven = true }

    /// True if the body waits until the caller moves it to a file.
    func mustMove(_ body: BodyPlan) -> Bool { received.writer.waits(for: body) }

    /// Asks the caller to move a movable attempt, because it has to report something before its end.
    func requestMove() {
        guard case .movable = received.writer.sink else { return }
        attempt.onMovable?(nil)
    }

    /// Writes the collected bytes and the rest of the body to this file; see `TransferEngine.move`.
    func move(to descriptor: Int32) {
        guard !isEnded else { return }
        if let failure = received.writer.move(to: descriptor) { return finish(.failed(failure)) }
        // A body that has not begun is watched from its beginning.
        guard progress.snapshot.isTransferring else { return }
        pacing.watch(from: 0, limits: attempt.checkpoints, sharing: attempt.unsynced)
        proceed()
    }

    /// Writes the body that waits for `proceed` to this file; see `TransferEngine.redirect`.
    func redirect(to descriptor: Int32) {
        guard !isEnded, hop?.waitsForCaller == true else { return }
        received.writer.redirect(to: descriptor)
    }

    /// Returns up to `length` bytes of the answer that is being received, and its size so far. Nil if there is no
    /// answer, or if its bytes are not the bytes of the result, because a coding has to be decoded.
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
}
