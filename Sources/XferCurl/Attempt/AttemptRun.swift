import CCurl
import XferCore
import XferModel

/// A running attempt: one or more requests, hop after hop, until an outcome.
///
/// Confined to the loop's thread. The `on…` methods of "From libcurl" run inside libcurl's callbacks: they decide and take
/// notes, and whatever changes handles waits until the call has returned (`onRequestDone`, `onDeadline`, the loop's turn).
final class AttemptRun {
    private enum Stage {
        /// No request is out.
        case resting
        /// Waiting for a final response's head.
        case requesting
        /// The head was judged `restart`; the body waits for `proceed`. `isBodyOver`: it turned out to be empty.
        case holding(isBodyOver: Bool)
        case receiving
        /// The body is thrown away so that the connection can be used again; then comes what follows.
        case draining(Next)
        case ended
    }

    private enum Next {
        case hop(HTTPURL)
        case ask(RequestPlan)
        case finish(AttemptOutcome.Result)
    }

    let id: AttemptID
    let progress: AttemptProgress
    private(set) var maxReceiveRate: Int64

    unowned let core: EngineCore
    let attempt: Attempt
    let events: AsyncStream<AttemptEvent>.Continuation
    private var stage = Stage.resting
    private(set) var url: HTTPURL
    private var redirects: RedirectRules
    private var plan: RequestPlan
    private var kept: ResumeData
    private var sentFields: [HeaderField] = []
    private var parser = HeadParser()
    private var head: ResponseHead?
    private var body: BodyPlan?
    private var writer: BodyWriter
    private var pacing: Pacing
    private var drained = 0
    private var drainDeadline: MonotonicInstant?
    /// Why a callback refused to go on.
    var refusal: TransferError?
    private(set) var connection: (session: TransferSession, handle: EasyHandle)?
    var handshakes = Handshakes()

    /// Most bytes of an unwanted body that are read to save the connection, and for how long.
    private static let drainLimit = 64 << 10
    private static let drainTime = Duration.seconds(1)

    init(id: AttemptID, attempt: Attempt, core: EngineCore, events: AsyncStream<AttemptEvent>.Continuation) {
        self.id = id
        self.attempt = attempt
        self.core = core
        self.events = events
        maxReceiveRate = max(0, attempt.maxReceiveRate)
        url = attempt.request.url
        redirects = RedirectRules(
            policy: attempt.request.redirect, allowsDowngrade: attempt.request.allowsDowngrade)
        kept = attempt.resumeData
        plan = Self.plan(attempt, kept: attempt.resumeData, segment: attempt.segment)
        writer = BodyWriter(sink: attempt.sink, offset: plan.offset)
        pacing = Pacing(timeouts: attempt.request.timeouts, rate: maxReceiveRate, now: Clocks.now)
        progress = AttemptProgress(offset: plan.offset, total: kept.totalLength)
    }

    private static func plan(
        _ attempt: Attempt, kept: ResumeData, segment: Segment?, plainRange: Bool = false
    ) -> RequestPlan {
        ResumeRules.plan(
            kept: kept, segment: segment, allowsUnsafe: attempt.allowsUnsafeResume,
            digestIsKnown: attempt.digestIsKnown, plainRange: plainRange, conditions: attempt.conditions,
            acceptedStatus: attempt.request.acceptedStatus)
    }

    // MARK: Commands

    func start() {
        if core.isShutDown { return finish(.stopped) }
        if plan.isWhole { return finish(.complete) }
        request()
    }

    func stop() { finish(.stopped) }

    func proceed() {
        guard case .holding(let isBodyOver) = stage else { return }
        stage = .receiving
        if isBodyOver { return endBody() }
        changePacing { pacing, now in
            pacing.release(now)
            return nil
        }
    }

    func committed(_ offset: Int64) {
        changePacing { pacing, now in pacing.onCommitted(offset, now: now) }
    }

    func setMaxReceiveRate(_ rate: Int64) {
        maxReceiveRate = max(0, rate)
        if maxReceiveRate > 0, isMultiplexed { return finish(.restartWithHTTP1) }
        if maxReceiveRate > 0 { connection?.handle.clampWindow(rate: maxReceiveRate) }
        changePacing { pacing, now in
            pacing.setRate(max(0, rate), now: now)
            return nil
        }
    }

    /// Whether the present body shares its connection with other requests.
    private var isMultiplexed: Bool {
        switch stage {
        case .receiving, .holding: (head?.majorVersion ?? 1) >= 2
        case .resting, .requesting, .draining, .ended: false
        }
    }

    // MARK: Requests

    private func request() {
        parser = HeadParser()
        body = nil
        drained = 0
        drainDeadline = nil
        refusal = nil
        handshakes = Handshakes()
        pacing.onRequest()
        do throws(TransferError) {
            let spec = try attempt.session(url)
            sentFields = HopHeaders.fields(
                for: attempt.request, plan: plan, hop: url, userAgent: core.configuration.userAgent)
            let request = EasyHandle.Request(
                url: url, headers: try HeaderList(sentFields), spec: spec, httpVersion: attempt.request.httpVersion,
                connectTimeout: attempt.request.timeouts.connect, maxReceiveRate: maxReceiveRate)
            let key = core.poolKey(for: spec, isLimited: maxReceiveRate > 0, isSecure: url.scheme == .https)
            stage = .requesting
            guard let session = core.session(for: key), let handle = session.begin(request, for: self) else {
                throw TransferError(.internalError, "out of memory", isRetriable: true)
            }
            connection = (session, handle)
            core.schedule(self, at: pacing.deadline)
        } catch {
            finish(.failed(error))
        }
    }

    /// Gives the easy handle back: after this nothing is written any more.
    private func disconnect() {
        guard let (session, handle) = connection else { return }
        connection = nil
        session.end(handle)
    }

    private func perform(_ next: Next) {
        disconnect()
        switch next {
        case .hop(let target):
            url = target
            request()
        case .ask(let next):
            plan = next
            request()
        case .finish(let result):
            finish(result)
        }
    }

    private func finish(_ result: AttemptOutcome.Result) {
        if case .ended = stage { return }
        stage = .ended
        disconnect()
        let body: [UInt8]? = if case .memory = attempt.sink { writer.memory } else { nil }
        let outcome = AttemptOutcome(
            result: result, offset: writer.offset, total: kept.totalLength, finalURL: url, head: head, body: body,
            resumeData: kept)
        events.yield(.finished(outcome))
        events.finish()
        core.forget(self)
    }

    // MARK: From the loop

    /// The request has ended; the handle still knows how.
    func onRequestDone(_ code: CURLcode) {
        guard let handle = connection?.handle else { return }
        let detail = handle.errorText
        let osError = handle.osError
        disconnect()
        switch stage {
        case .resting, .ended:
            break
        case .draining(let next):
            perform(next)
        case .requesting, .holding, .receiving:
            if let refusal { return finish(.failed(refusal)) }
            if code == CURLE_OK || isBodyWhole { return endRequest() }
            let error = CurlError.transferError(code, detail: detail, osError: osError, url: url)
            finish(.failed(error))
        }
    }

    /// The exact length counts: a connection that broke after the last byte took nothing away.
    private var isBodyWhole: Bool {
        guard case .receiving = stage, let body, let goal = body.goal else { return false }
        return body.end == goal && writer.offset == goal
    }

    private func endRequest() {
        switch stage {
        case .requesting:
            finish(
                .failed(TransferError(.protocolError, "\(url.hostKey) sent no valid response", host: url.hostKey)))
        case .holding:
            stage = .holding(isBodyOver: true)
        case .receiving:
            endBody()
        case .resting, .draining, .ended:
            break
        }
    }

    private func endBody() {
        guard let body else { return }
        switch ResumeRules.judgeEnd(of: body, at: writer.offset, skipped: writer.skipped, host: url.hostKey) {
        case .complete:
            finish(.complete)
        case .fail(let error):
            finish(.failed(error))
        case .askOn:
            var segment = plan.segment
            segment.committed = writer.offset
            perform(.ask(Self.plan(attempt, kept: kept, segment: segment)))
        }
    }

    func onDeadline(_ now: MonotonicInstant) {
        // What follows a body that is thrown away is settled: its silence changes nothing.
        if case .draining(let next) = stage, let drainDeadline {
            return drainDeadline <= now ? perform(next) : core.schedule(self, at: drainDeadline)
        }
        if let reason = pacing.expired(now) { return finish(.failed(timeout(reason))) }
        changePacing { pacing, now in pacing.onTime(now) }
    }

    private func timeout(_ reason: FailureReason) -> TransferError {
        let message =
            reason == .idleTimeout
            ? "nothing came from \(url.hostKey) for \(attempt.request.timeouts.idle) s"
            : "the attempt took longer than \(attempt.request.timeouts.total) s"
        return TransferError(reason, message, host: url.hostKey)
    }

    // MARK: Pausing

    /// Changes the pacing outside libcurl's callbacks and does what follows from it.
    private func changePacing(_ change: (inout Pacing, MonotonicInstant) -> Int64?) {
        if case .ended = stage { return }
        let wasPaused = !pacing.pauses.isEmpty
        let due = change(&pacing, Clocks.now)
        let isPaused = !pacing.pauses.isEmpty
        if let due { events.yield(.checkpointDue(offset: due)) }
        if wasPaused, !isPaused { core.unpauseSoon(self) }
        if !wasPaused, isPaused { _ = connection?.handle.setPaused(true) }
        core.schedule(self, at: pacing.deadline)
    }

    /// The loop's turn: reading goes on. What libcurl still holds comes at once and may pause again.
    func continueReading() {
        guard pacing.pauses.isEmpty, let handle = connection?.handle else { return }
        let code = handle.setPaused(false)
        // libcurl tells a refusal only here, not by a message.
        if code != CURLE_OK { onRequestDone(code) }
    }

    // MARK: From libcurl

    /// False keeps the request from going out.
    func onConnected() -> Bool {
        guard isJudged() else { return false }
        pacing.onActivity(Clocks.now)
        core.schedule(self, at: pacing.deadline)
        return true
    }

    /// False refuses the response.
    func onHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        pacing.onActivity(Clocks.now)
        switch parser.onLine(line) {
        case .more:
            return true
        case .tooLarge:
            refusal = TransferError(
                .protocolError, "\(url.hostKey) sent a head larger than \(HeadParser.maxBytes) bytes", host: url.hostKey
            )
            return false
        case .head(let head):
            self.head = head
            return onHead(head)
        }
    }

    private func onHead(_ head: ResponseHead) -> Bool {
        noteServer()
        if head.isRedirect { return drain(redirect(head), head) }
        if head.majorVersion >= 2, maxReceiveRate > 0 { return drain(.finish(.restartWithHTTP1), head) }
        let verdict = ResumeRules.judge(head, plan: plan, url: url, now: Clocks.wall)
        let keeping = ResumeRules.resumeData(
            after: head, verdict: verdict, plan: plan, finalURL: url, sent: sentFields)
        events.yield(.head(head, verdict, keeping: keeping))
        switch verdict {
        case .write(let body):
            return receive(body, keeping: keeping, head, isNew: false)
        case .restart(let body, _):
            return receive(body, keeping: keeping, head, isNew: true)
        case .complete:
            return drain(.finish(.complete), head)
        case .startOver(let reason):
            return drain(.finish(.startOver(reason)), head)
        case .retryPlainRange:
            let segment = plan.segment
            return drain(.ask(Self.plan(attempt, kept: kept, segment: segment, plainRange: true)), head)
        case .notModified:
            return drain(.finish(.notModified), head)
        case .fail(let error):
            return drain(.finish(.failed(error)), head)
        }
    }

    private func redirect(_ head: ResponseHead) -> Next {
        do throws(TransferError) {
            let target: HTTPURL
            do throws(URLSyntaxError) {
                target = try CurlURL.resolve(head.location ?? "", against: url)
            } catch {
                throw TransferError(
                    .protocolError, "\(url.hostKey) redirects to something that cannot be fetched: \(error)",
                    isRetriable: false, httpStatus: head.status, host: url.hostKey)
            }
            try redirects.onRedirect(status: head.status, from: url, to: target)
            events.yield(.redirected(status: head.status, from: url, to: target))
            return .hop(target)
        } catch {
            return .finish(.failed(error))
        }
    }

    private func receive(_ body: BodyPlan, keeping: ResumeData, _ head: ResponseHead, isNew: Bool) -> Bool {
        kept = keeping
        self.body = body
        do throws(TransferError) {
            try writer.begin(body)
        } catch {
            return drain(.finish(.failed(error)), head)
        }
        if case .file = attempt.sink, isNew || !pacing.isWatching {
            pacing.watch(from: body.offset, limits: attempt.checkpoints)
        }
        progress.update { snapshot in
            snapshot.isTransferring = true
            snapshot.offset = body.offset
            snapshot.total = body.total
        }
        if head.majorVersion < 2, head.contentLength != nil { connection?.handle.listenForExcess() }
        stage = isNew ? .holding(isBodyOver: false) : .receiving
        if isNew { pacing.hold(Clocks.now) }
        return true
    }

    /// Decides whether the unwanted body is short enough to read it; false ends the response here.
    private func drain(_ next: Next, _ head: ResponseHead) -> Bool {
        stage = .draining(next)
        let deadline = Clocks.now.advanced(by: Self.drainTime)
        drainDeadline = deadline
        core.schedule(self, at: deadline)
        return (head.contentLength ?? 0) <= Int64(Self.drainLimit)
    }

    /// How many of the bytes were taken; anything but all of them ends the request, but for libcurl's word for "later".
    func onBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        let now = Clocks.now
        switch stage {
        case .holding:
            return Int(CURL_WRITEFUNC_PAUSE)
        case .draining:
            drained += bytes.count
            return drained <= Self.drainLimit ? bytes.count : 0
        case .receiving:
            pacing.onActivity(now)
            return take(bytes, now) ? bytes.count : 0
        case .requesting:
            refusal = TransferError(.protocolError, "\(url.hostKey) sent a body without a head", host: url.hostKey)
            return 0
        case .resting, .ended:
            return 0
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ now: MonotonicInstant) -> Bool {
        let result = writer.write(bytes, host: url.hostKey)
        progress.update { snapshot in
            snapshot.offset = writer.offset
            snapshot.received += Int64(bytes.count)
        }
        switch result {
        case .failed(let error):
            refusal = error
            return false
        case .reachedGoal:
            stage = .draining(.finish(.complete))
            return false
        case .more:
            if body?.end == writer.offset, url.scheme == .http, connection?.handle.hasUnreadBytes == true { onExcess() }
        }
        let wasPaused = !pacing.pauses.isEmpty
        pacing.onReceived(bytes.count, now: now)
        if let due = pacing.onWritten(to: writer.offset, now: now) { events.yield(.checkpointDue(offset: due)) }
        if !wasPaused, !pacing.pauses.isEmpty { _ = connection?.handle.setPaused(true) }
        core.schedule(self, at: pacing.deadline)
        return true
    }

    /// The server sent more than its Content-Length says.
    func onExcess() {
        guard case .receiving = stage else { return }
        refusal = TransferError(
            .lengthMismatch, "\(url.hostKey) sent more than it announced", httpStatus: head?.status, host: url.hostKey)
    }
}
