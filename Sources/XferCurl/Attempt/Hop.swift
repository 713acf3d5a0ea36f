import CCurl
import XferCore
import XferModel
import XferSystem

/// One request of an attempt and its response. This file sends the request and judges the response's head;
/// Hop+Body.swift handles the body.
///
/// Use it on the loop's thread only. The `on…` methods of "From libcurl" run inside libcurl's callbacks: they decide
/// and record. Code that changes a handle runs after the callback has returned (`onRequestDone`,
/// `AttemptRun.onDeadline`, the loop's turn). The run outlives its hop. Invariant: after `end` no callback reaches this
/// object, but its properties stay readable.
final class Hop {
    enum Stage {
        /// Waiting for a final response's head.
        case requesting
        /// The head was judged `restart`, and the body waits for `proceed`. `isBodyOver`: the body turned out to be
        /// empty.
        case waitingForCaller(isBodyOver: Bool)
        case receiving
        /// The body is discarded so that the connection can be used again; the next step follows. `until` is nil when
        /// the rest is not read at all.
        case draining(AttemptRun.Next, until: MonotonicInstant?)
        case ended
    }

    let request: HopRequest
    unowned let run: AttemptRun
    private(set) var connection: (session: TransferSession, handle: EasyHandle)?
    var link = HopConnection()
    var sending = HopSending()
    var response = HopResponse()
    var stage = Stage.requesting
    var body: BodyPlan?
    /// True if libcurl would wait for the end of the connection after a body of known length, because it treats
    /// `Transfer-Encoding: identity` as a coding.
    var endsUnseen = false
    /// The number of bytes of an unwanted body that were read.
    var drained = 0
    /// The beginning of a refusal's body, which may contain the reason.
    var refusalText: [UInt8] = []
    /// The error with which a callback stopped the request.
    var refusal: TransferError?
    var sentFields: [HeaderField] = []
    var authentication = HopAuthentication.none
    /// True if the request had cookies of a jar.
    private var hasCookies = false

    init(_ request: HopRequest, run: AttemptRun) {
        self.request = request
        self.run = run
    }

    var url: HTTPURL { request.url }
    var method: HTTPMethod { request.method }
    var content: RequestContent? { request.content }
    var plan: RequestPlan { request.plan }
    var head: ResponseHead? { response.head }

    // MARK: For the attempt

    /// Sends the request through the session with this specification.
    func begin(_ spec: SessionSpec) throws(TransferError) {
        var wanted = run.attempt.request
        wanted.url = run.home
        let core = run.core
        sentFields = HopHeaders.fields(
            for: wanted, plan: plan,
            hop: HopHeaders.Hop(url: url, method: method, hasParts: content?.isMultipart ?? false),
            credential: run.credential, userAgent: core.configuration.userAgent)
        chooseAddresses(spec)
        let cookies = separateCookies()
        try authenticate()
        try content?.begin(for: self)
        sending.expectsContinue = mayExpectContinue()
        var request = EasyHandle.Request(
            url: url, method: method, content: content,
            headers: try HeaderList(
                sentFields, isSigned: authentication.isSigned, expectsContinue: sending.expectsContinue),
            spec: spec,
            httpVersion: wanted.httpVersion, connectTimeout: wanted.timeouts.connect,
            maxReceiveRate: run.receiveRate, readSize: run.readSize, needsNewConnection: self.request.needsNewConnection
        )
        request.authentication = authentication
        hasCookies = cookies != nil
        request.cookies = cookies
        let key = core.poolKey(for: spec, isLimited: run.receiveRate > 0, isSecure: url.scheme == .https)
        guard let session = core.session(for: key), let handle = session.begin(request, for: self) else {
            throw TransferError(.internalError, "out of memory", isRetriable: true)
        }
        connection = (session, handle)
        link.hasSecureProxy = spec.key.hasSecureProxy
    }

    /// Returns the easy handle to its session. No callback follows.
    func end() {
        stage = .ended
        disconnect()
    }

    private func disconnect() {
        guard let (session, handle) = connection else { return }
        reportSent()
        sending.wasSent = handle.requestSize > 0
        if link.addresses.connected == nil { link.addresses.connected = handle.address.flatMap { IPAddress($0) } }
        run.setTrace(makeTrace(handle))
        if let tls = link.watchedTLS { run.core.stopWatchingEnd(of: tls) }
        link.watchedTLS = nil
        connection = nil
        session.end(handle)
        link.spare = nil
    }

    /// The request's handle; nil before `begin` and after the request has ended.
    var handle: EasyHandle? { connection?.handle }

    /// True if the body may share its connection with other requests, as in HTTP/2.
    var isMultiplexed: Bool {
        switch stage {
        case .receiving, .waitingForCaller: (head?.majorVersion ?? 1) >= 2
        case .requesting, .draining, .ended: false
        }
    }

    /// The step after the unwanted body that is being read, and how long the hop waits for its end.
    var drain: (next: AttemptRun.Next, until: MonotonicInstant)? {
        guard case .draining(let next, let until?) = stage else { return nil }
        return (explained(next), until)
    }

    var isReceivingAnswer: Bool {
        if case .receiving = stage { true } else { false }
    }

    var waitsForCaller: Bool {
        if case .waitingForCaller = stage { true } else { false }
    }

    var hasAnswer: Bool { response.head != nil }

    /// True if the server has requested the content with 100 (Continue).
    var hasContinued: Bool { response.parser.hasContinued }

    /// True if the response's body has neither a content coding nor a transfer coding.
    var hasPlainBody: Bool { head?.contentEncoding == nil && head?.framing != .chunked }

    // MARK: From the loop

    /// Stops receiving.
    func pauseReceiving() { _ = handle?.setPaused(receiving: true, sending: sending.isPaused) }

    /// Resumes the directions that no longer need a pause. libcurl then delivers at once the bytes that it has
    /// buffered, which may cause another pause.
    func unpause() {
        guard let handle else { return }
        let isReleased = sending.isPaused && !run.isSendingPaused
        if isReleased { sending.isPaused = false }
        // If a form's part returned "pause", libcurl reads the part again only after it has paused the sending itself.
        // It may not have done so yet, because it first sends the lines before the part. So the code pauses the
        // sending, then resumes it.
        for isSendingPaused in isReleased ? [true, false] : [sending.isPaused] {
            let code = handle.setPaused(receiving: run.isReceivingPaused, sending: isSendingPaused)
            // If a callback refuses the delivered bytes, libcurl reports that only by this code, not by a message.
            if code != CURLE_OK { return onRequestDone(code) }
        }
    }

    /// Called when the request has ended. The handle still has the error's details and the request's counters.
    func onRequestDone(_ code: CURLcode) {
        guard let handle else { return }
        if needsAvoidedAddresses(after: code) { return run.perform(.otherAddress) }
        run.core.shared.onRequestDone(hasNewConnection: handle.hasNewConnection)
        if link.isStale { return run.perform(.reconnect) }
        let failure = code == CURLE_OK ? nil : failure(code)
        let isCutShort = isSendingCutShort
        let isUnproven = isEndUnproven
        let isCutOff = isUnproven && run.attempt.endDigest == nil
        if refusal == nil, !hasAnswer { readEarlyResponse(after: code) }
        if let challenge = response.challenges.removeFinal() { _ = judge(challenge) }
        let headFault = !hasAnswer && handle.requestSize > 0 ? CurlError.headFault(code, url) : nil
        disconnect()
        switch stage {
        case .ended:
            break
        case .draining(let next, _):
            run.perform(explained(next))
        case .requesting, .waitingForCaller, .receiving:
            if link.isRepeated, run.mayRestart { return run.finish(.restartWithHTTP1) }
            if let refusal { return run.finish(.failed(refusal)) }
            if let headFault { return run.finish(.failed(headFault)) }
            if (failure == nil && !isCutOff) || isBodyWhole {
                if isUnproven { run.onUnprovenEnd() }
                return endResponse()
            }
            // If the server refused the content early, its error status is the result even if the response's body is
            // incomplete. A repeated request would get the same status.
            if isCutShort || isCutOff, run.attempt.mode == .exchange, case .receiving = stage, let head,
                head.status >= 400
            {
                return run.finish(.complete)
            }
            if code == CURLE_OK { return run.finish(.failed(unprovenEnd)) }
            guard let failure = link.admission.failure(host: url.hostKey) ?? failure.map(namingAddress) else {
                return endResponse()
            }
            run.finish(.failed(failure))
        }
    }

    private func endResponse() {
        switch stage {
        case .requesting:
            run.finish(
                .failed(TransferError(.protocolError, "\(url.hostKey) sent no valid response", host: url.hostKey)))
        case .waitingForCaller:
            stage = .waitingForCaller(isBodyOver: true)
        case .receiving:
            endBody()
        case .draining, .ended:
            break
        }
    }

    // MARK: From libcurl

    /// Processes a line of a head or trailer. Returns false to end the request.
    func onHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        link.hasReceived = true
        run.onActivity(run.core.now)
        if !settleChallenge(line) { return false }
        switch response.parser.onLine(line) {
        case .more:
            return true
        case .tooLarge:
            return refuse(.protocolError, "sent a head larger than \(HeadParser.maxBytes) bytes")
        case .tooManyFields:
            return refuse(.protocolError, "sent more than \(HeadParser.maxFields) header fields")
        case .informational(let head):
            run.events.yield(.informational(head))
            return true
        case .head(let head):
            if case .invalid(let problem) = head.framing {
                // If the status alone would be retriable, the error stays retriable.
                return refuse(
                    .invalidFraming, problem, isRetriable: ResponseRules.isRetriable(status: head.status),
                    status: head.status)
            }
            receiveCookies(of: head)
            return response.challenges.onHead(head, isAnswered: isAnswered(head)) ? true : judge(head)
        }
    }

    private func refuse(
        _ reason: FailureReason, _ problem: String, isRetriable: Bool? = nil, status: Int? = nil
    ) -> Bool {
        refusal = TransferError(
            reason, "\(url.hostKey) \(problem)", isRetriable: isRetriable, httpStatus: status, host: url.hostKey)
        return false
    }

    func judge(_ head: ResponseHead) -> Bool {
        var head = PartView.head(head, of: plan.part)
        head.proxy = answeringProxy
        head.isRedirected = RedirectRules.leadsElsewhere(from: run.home, to: url)
        head.followsCookies = hasCookies
        head.followsCredentials =
            authentication != .none || sentFields.firstValue(named: "Authorization") != nil
        if let key = connection?.session.key.spec.key {
            head.isViaProxy = key.isRelayed
            head.followsProxyLogin = key.proxyLogin != nil
            head.isViaUnixSocket = key.connections.unixSocket != nil
        }
        reportSent()
        response.head = head
        recordAnsweringAddress()
        run.setTrace(makeTrace(handle))
        reportServer()
        noteStrictTransport(head)
        run.onHead(head)
        return onHead(head)
    }

    /// Interprets a line that follows a pending challenge. A new head means that libcurl has answered the challenge.
    /// Any other line means that the pending head was final.
    private func settleChallenge(_ line: UnsafeRawBufferPointer) -> Bool {
        switch response.challenges.onLine(line) {
        case .nothing:
            return true
        case .answered:
            response.parser = HeadParser()
            return true
        case .final(let head):
            return judge(head)
        case .endless:
            var error = TransferError(
                .authFailed, "\(url.hostKey) requests credentials repeatedly", httpStatus: 401, host: url.hostKey)
            if RedirectRules.leadsElsewhere(from: run.home, to: url) { error.isRedirected = true }
            refusal = error
            return false
        }
    }

    /// The HTTP proxy that forwards the response to an `http` request, or answers instead of the server.
    private var answeringProxy: String? {
        guard url.scheme == .http, let proxy = connection?.session.key.spec.key.proxy, !proxy.hasPrefix("socks") else {
            return nil
        }
        return proxy
    }

    private func onHead(_ head: ResponseHead) -> Bool {
        if refusesExpectation(head) {
            // If libcurl read the rest of the response, it would repeat the request by itself.
            stage = .draining(.request(plan), until: nil)
            return false
        }
        if head.isRedirect, let next = run.follow(head) { return drain(next, head) }
        if run.attempt.mode == .exchange { return receiveAnswer(head) }
        if head.majorVersion >= 2, run.receiveRate > 0, run.mayRestart {
            return drain(.finish(.restartWithHTTP1), head)
        }
        let verdict = ResumeRules.judge(head, plan: plan, url: url, now: Clocks.wall())
        if isTired(before: verdict, head) {
            // The answer's body ends with the connection.
            stage = .draining(.reconnect, until: nil)
            return false
        }
        let keeping = ResumeRules.resumeData(
            after: head, verdict: verdict, plan: plan, finalURL: url, sent: sentFields)
        run.events.yield(.head(head, verdict, keeping: keeping))
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
            return drain(.request(run.plan(segment: plan.segment, plainRange: true)), head)
        case .proveCondition(let proof):
            run.proof = proof
            return drain(.request(run.plan(segment: plan.segment)), head)
        case .notModified:
            return drain(.finish(.notModified), head)
        case .suspect(_, let error):
            run.onDoubt(keeping)
            return drain(.finish(.failed(error)), head)
        case .fail(let error):
            return drain(.finish(.failed(explained(error, head))), head)
        }
    }

    /// Starts the body in exchange mode. There every final response is the result, except a 206 that is not the whole
    /// representation, because no part was requested.
    private func receiveAnswer(_ head: ResponseHead) -> Bool {
        if head.status == 206, head.wholeLength == nil {
            return drain(.finish(.failed(ResumeRules.unaskedPart(from: url))), head)
        }
        run.events.yield(.response(head))
        response.codings = ContentCoding.undone(of: head, sent: sentFields)
        let length = method == .head ? 0 : head.wholeLength ?? head.contentLength
        let body = BodyPlan(offset: 0, end: length, total: length)
        return receive(body, keeping: ResumeData(totalLength: length, finalURL: url), head, isNew: false)
    }
}
