import CCurl
import NIOConcurrencyHelpers
import XferCore
import XferModel

/// Sending. All of it runs inside libcurl's callbacks.
extension Hop {
    /// Fills the buffer with the next bytes. Returns their number, or a value that ends or pauses the request. It never
    /// returns 0 before the end, because libcurl would regard that as the end, and the server would wait for the rest.
    func onContentWanted(from reader: ContentReader, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        endExpectation()
        keepSocket()
        if run.isSendingPaused || !run.maySend() {
            reportSent()
            sending.isPaused = true
            return Int(CURL_READFUNC_PAUSE)
        }
        do throws(TransferError) {
            let chunk = buffer.prefix(run.sendChunk)
            let start = reader.position
            let count = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: chunk))
            reportSent()
            if yieldsToAnswer(), reader.seek(to: start) { return Int(CURL_READFUNC_PAUSE) }
            run.onSent(count)
            return count
        } catch {
            refusal = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Returns true if libcurl should read before it sends the next chunk. A server that refuses early may reset the
    /// connection right after its answer. Sending would then lose the answer, so libcurl is made to read first, once
    /// for each chunk. HTTP/2 answers on streams, and there is always something to read.
    private func yieldsToAnswer() -> Bool {
        guard !hasAnswer, url.scheme == .http || run.attempt.request.httpVersion == .http1 else { return false }
        if sending.hasYielded || handle?.hasUnreadBytes != true {
            sending.hasYielded = false
            return false
        }
        sending.hasYielded = true
        sending.isPaused = true
        run.core.unpauseSoon(run)
        return true
    }

    /// Passes the number of bytes that libcurl has handed to the system to the progress.
    func reportSent() {
        guard let content, let handle else { return }
        let sent = handle.contentSent
        let total = content.length ?? handle.contentLength
        run.progress.update { $0.setSent(sent, of: total) }
    }

    /// The time of the server's last acknowledgement of further bytes since the previous call, or nil if there was
    /// none. Bytes that the system has accepted may be on the network for longer than any timeout.
    func lastAcknowledgement(_ now: MonotonicInstant) -> MonotonicInstant? {
        guard content != nil, let seen = handle?.acknowledgement, seen.bytes > sending.acknowledged else { return nil }
        sending.acknowledged = seen.bytes
        return now.advanced(by: .milliseconds(-Int64(clamping: seen.age)))
    }
}

/// The expectation `Expect: 100-continue`: permission of the server before large content is sent.
///
/// libcurl adds the field over HTTP/1.1 and waits. This code decides whether libcurl may, and remembers servers that do
/// not answer it. After a 417 libcurl would repeat the request itself, and the hop's head would not show that, so this
/// code repeats the request.
extension Hop {
    /// True if the request should wait for the server's permission. libcurl signs each line of a request without
    /// changes, so a signed request gets no `Expect`.
    func mayExpectContinue() -> Bool {
        guard let content, !authentication.isSigned, content.sourceLength >= ContinueMemory.smallestContent else {
            return false
        }
        let now = run.core.now
        return run.core.shared.continues.withLockedValue { $0.mayExpect(url.origin, now: now) }
    }

    /// Ends the wait for `100 Continue`. libcurl wants content for the first time since the request was sent: the
    /// server has answered 100, or nothing. Over HTTP/2, which does not use the expectation, that is at once.
    func endExpectation() {
        guard let expectedAt = sending.expectedAt else { return }
        sending.expectedAt = nil
        let isSilent = !hasContinued && !hasAnswer
        guard isSilent, expectedAt.duration(to: run.core.now) >= ContinueMemory.patience * 0.9 else { return }
        recordSilence()
    }

    /// True if the head refuses only the expectation; then the request is repeated without it.
    func refusesExpectation(_ head: ResponseHead) -> Bool {
        guard sending.expectsContinue, head.status == 417 else { return false }
        recordSilence()
        return true
    }

    private func recordSilence() {
        let now = run.core.now
        run.core.shared.continues.withLockedValue { $0.recordSilence(of: url.origin, now: now) }
    }
}

/// The progress of sending a hop's request.
///
/// Invariant: `isPaused` is true exactly between the calls that make libcurl pause and resume sending.
struct HopSending {
    /// True if bytes of the request were sent.
    var wasSent = false
    /// True if libcurl is to request the content later.
    var isPaused = false
    /// True if the present chunk has been delayed once for a response of the server.
    var hasYielded = false
    /// True if the request has `Expect: 100-continue`.
    var expectsContinue = false
    /// The time at which that request was sent; nil once the content is sent, too.
    var expectedAt: MonotonicInstant?
    /// The number of bytes that the server has acknowledged; see `Hop.lastAcknowledgement`.
    var acknowledged: UInt64 = 0
}
