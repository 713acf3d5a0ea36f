import CCurl
import XferCore
import XferModel
import XferSystem

/// The connection that libcurl chose for a hop, before the request is sent over it.
extension Hop {
    /// Handles the connection that is ready for the request. Returns false to stop libcurl from sending the request
    /// over it.
    func onConnected(_ route: SocketRoute) -> Bool {
        guard isJudged(), !isRepeatedAnswer(), !isRepetition() else { return false }
        if leavesAddress(route) {
            link.isStale = true
            return false
        }
        guard !isUnclean(route) else { return false }
        link.isConnected = true
        link.hasReceived = false
        if link.sentBefore == nil { link.sentBefore = handle?.requestSize ?? 0 }
        link.spare = nil
        sending.expectedAt = sending.expectsContinue ? run.core.now : nil
        run.onConnected()
        return true
    }

    /// True if libcurl wants to repeat the request although its answer has begun. An HTTP/2 stream that is reset with
    /// HTTP_1_1_REQUIRED makes libcurl do so, and it would append the second answer's body to the first one's.
    private func isRepeatedAnswer() -> Bool {
        guard hasAnswer else { return false }
        link.isRepeated = true
        refusal = TransferError(
            .connectionLost, "\(url.hostKey) aborted its answer and requires HTTP/1.1",
            host: url.hostKey)
        return true
    }

    /// True if libcurl repeats a request that is not idempotent over a new connection, since the first one broke. The
    /// server may have received the first request, so libcurl must not decide that. A repetition that answers a
    /// challenge is allowed.
    private func isRepetition() -> Bool {
        guard !method.isIdempotent, let before = link.sentBefore, let handle, handle.requestSize > before,
            !response.challenges.isPending
        else { return false }
        refusal = TransferError(
            .connectionLost, "\(url.hostKey) closed the connection without answering the \(method.rawValue)",
            host: url.hostKey)
        return true
    }

    /// True if unread bytes wait on a reused connection. They would be read as the response to this request. Then the
    /// connection is closed and the request is sent over a new one. If the request needed a new connection already, it
    /// fails.
    ///
    /// Over TLS 1.3 the bytes may be a session ticket. An unnecessary new connection costs less than a wrong response.
    /// HTTP/2 is not checked: each frame belongs to a stream, and frames that are not responses may arrive at any time.
    private func isUnclean(_ route: SocketRoute) -> Bool {
        guard let (session, handle) = connection, link.hasReceived || !handle.hasNewConnection else { return false }
        let tls = handle.tls.map(TLSState.init)
        if tls?.speaksHTTP2 == true { return false }
        if tls?.hasUnreadBytes != true, let socket = session.socket(of: route), SocketRoute.isQuiet(socket) {
            return false
        }
        if request.needsNewConnection {
            refusal = TransferError(
                .protocolError, "\(url.hostKey) sent bytes before a request", host: url.hostKey)
        } else {
            link.isStale = true
        }
        return true
    }

    /// True if the body that the answer has begun is better requested again over a new connection; see
    /// `ConnectionLosses`. It is false under a rate limit, which then determines the rate, and after a challenge.
    func isTired(before verdict: HeadVerdict, _ head: ResponseHead) -> Bool {
        guard head.majorVersion < 2, !request.needsNewConnection, method == .get, content == nil, run.receiveRate == 0,
            let handle, !handle.hasNewConnection
        else { return false }
        if case .digest = authentication { return false }
        let body: BodyPlan
        switch verdict {
        case .write(let plan), .restart(let plan, _): body = plan
        case .complete, .startOver, .retryPlainRange, .proveCondition, .notModified, .suspect, .fail: return false
        }
        guard let goal = body.goal, let losses = run.core.configuration.losses(handle) else { return false }
        return losses.isTired(before: goal.subtractingSaturated(body.offset))
    }
}
