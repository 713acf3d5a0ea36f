import CCurl
import XferCore
import XferModel

/// The body of a response: whether it is wanted, where it is written, and whether it was complete.
extension Hop {
    /// The highest number of bytes of an unwanted body that are read to keep the connection, and the longest time for
    /// it.
    private static var drainLimit: Int { 64 << 10 }
    private static var drainTime: Duration { .seconds(1) }

    // MARK: For the attempt

    /// Lets the waiting body be written. Returns true when it is empty; then the response is finished already.
    func release() -> Bool {
        guard case .waitingForCaller(let isBodyOver) = stage else { return false }
        stage = .receiving
        if isBodyOver { endBody() }
        return isBodyOver
    }

    /// Changes the end of this attempt's part of the present body; false when the offset is outside it.
    func setGoal(_ goal: Int64) -> Bool {
        guard case .receiving = stage, let body, goal >= run.received.writer.offset,
            goal <= body.end ?? body.total ?? -1
        else {
            return false
        }
        self.body?.goal = goal
        return true
    }

    // MARK: Its beginning and its end

    func receive(_ body: BodyPlan, keeping: ResumeData, _ head: ResponseHead, isNew: Bool) -> Bool {
        self.body = body
        if method != .head, case .length = head.framing { endsUnseen = head.value("Transfer-Encoding") != nil }
        watchEnd(of: head)
        let mustWait = isNew || run.mustMove(body)
        do throws(TransferError) {
            try run.beginBody(body, keeping: keeping, isNew: mustWait)
        } catch {
            return drain(.finish(.failed(error)), head)
        }
        stage = mustWait ? .waitingForCaller(isBodyOver: false) : .receiving
        if mustWait { run.requestMove() }
        // No byte follows an empty body at which it could be ended.
        return !(endsUnseen && isBodyWhole)
    }

    /// Decides whether the unwanted body is short enough to read it; false ends the response here.
    func drain(_ next: AttemptRun.Next, _ head: ResponseHead) -> Bool {
        let deadline = run.core.now.advanced(by: Self.drainTime)
        stage = .draining(next, until: deadline)
        run.core.schedule(run, at: deadline)
        return (head.contentLength ?? 0) <= Int64(clamping: Self.drainLimit)
    }

    /// The step, with the explanation in a refusal's body.
    func explained(_ next: AttemptRun.Next) -> AttemptRun.Next {
        guard case .finish(.failed(var error)) = next, next.isRefusal, !refusalText.isEmpty else { return next }
        if url.scheme == .http, head?.status == 400, TLSPortComplaint.isIn(refusalText) {
            error.cause = .tlsExpected
            error.message = "\(url.hostKey) expects TLS on this port, but received an http request"
        } else if SourceExpiry.isStated(in: refusalText) {
            error.saysExpired = true
        }
        return .finish(.failed(error))
    }

    /// True if the body has its exact length. A connection that was lost after the last byte lost no data.
    var isBodyWhole: Bool {
        switch stage {
        case .receiving, .waitingForCaller: break
        case .requesting, .draining, .ended: return false
        }
        guard let body, let goal = body.goal else { return false }
        return body.end == goal && run.received.writer.offset == goal
    }

    /// Watches the end of the TLS connection if it is also the end of the body. Without a close_notify alert the body
    /// may be cut off (RFC 8446 §6.1), so it is incomplete (RFC 9112 §8), but libcurl does not distinguish the two
    /// ends.
    ///
    /// Over plain TCP every orderly end is the end of the body (RFC 9112 §6.3), and libcurl reports a reset. `tls` is
    /// the connection to an `https` proxy if the origin has none.
    private func watchEnd(of head: ResponseHead) {
        guard head.majorVersion < 2, method != .head, let tls = handle?.tls, head.framing == .untilClose else {
            return
        }
        link.watchedTLS = tls
        run.core.watchEnd(of: tls)
    }

    /// True if the body may be cut off although libcurl reports a normal end. The exact length, if it is known, decides
    /// elsewhere.
    var isEndUnproven: Bool {
        guard let tls = link.watchedTLS, body?.goal == nil else { return false }
        return !run.core.hasEnded(tls)
    }

    var unprovenEnd: TransferError {
        TransferError(
            .shortBody,
            "\(url.hostKey) announced no length and ended the TLS connection without close_notify: "
                + "the body may be cut off",
            host: url.hostKey)
    }

    func endBody() {
        guard let body else { return }
        let offset = run.received.writer.offset
        switch ResumeRules.judgeEnd(of: body, at: offset, skipped: run.received.writer.skipped, host: url.hostKey) {
        case .complete:
            run.finish(.complete)
        case .fail(let error):
            run.finish(.failed(error))
        case .askOn:
            var segment = plan.segment
            segment.committed = offset
            run.perform(.request(run.plan(segment: segment)))
        }
    }

    // MARK: From libcurl

    /// Returns how many bytes were consumed. Any number other than all of them ends the request, except libcurl's value
    /// for "pause".
    func onBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if let challenge = response.challenges.removeFinal(), !judge(challenge) { return 0 }
        switch stage {
        case .waitingForCaller:
            return Int(CURL_WRITEFUNC_PAUSE)
        case .draining(let next, _):
            drained += bytes.count
            if next.isRefusal {
                refusalText += bytes.prefix(max(0, SourceExpiry.longestText - refusalText.count))
            }
            return drained <= Self.drainLimit ? bytes.count : 0
        case .receiving:
            return write(bytes, for: run)
        case .requesting:
            refusal = TransferError(.protocolError, "\(url.hostKey) sent a body without a head", host: url.hostKey)
            return 0
        case .ended:
            return 0
        }
    }

    /// Writes a chunk of the wanted body. This path is hot: no work for each byte, and little for each chunk.
    private func write(_ bytes: UnsafeRawBufferPointer, for run: AttemptRun) -> Int {
        let now = run.core.now
        if !run.mayReceive(now) { return Int(CURL_WRITEFUNC_PAUSE) }
        switch run.write(bytes) {
        case .failed(let error):
            refusal = error
            return 0
        case .reachedGoal:
            stage = .draining(.finish(.complete), until: nil)
            return 0
        case .more where endsUnseen && isBodyWhole:
            stage = .draining(.finish(.complete), until: nil)
            return 0
        case .more:
            break
        }
        run.onWritten(bytes.count, now: now)
        return bytes.count
    }
}

extension AttemptRun.Next {
    /// True if the server has refused the request, so that its answer may contain the reason.
    fileprivate var isRefusal: Bool {
        guard case .finish(.failed(let error)) = self, let status = error.httpStatus else { return false }
        return (400...499).contains(status)
    }
}
