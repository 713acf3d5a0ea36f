import CCurl
import XferModel

/// Sending. All of it runs inside libcurl's callbacks.
extension Hop {
    /// Fills the buffer with the next bytes. A value that is no count ends the request or pauses it. Never 0 before the
    /// end: libcurl would take that for the end, and the server would wait for the rest.
    func onContentWanted(from reader: ContentReader, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        endExpectation()
        keepSocket()
        if run.isSendingPaused || !run.maySend() {
            reportSent()
            sending.isHeld = true
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

    /// A server that refuses early may reset the connection right after its answer. Sending would then lose the answer,
    /// so libcurl is made to read first, once for each chunk. HTTP/2 answers on streams, and there is always something
    /// to read.
    private func yieldsToAnswer() -> Bool {
        guard !hasAnswer, url.scheme == .http || run.attempt.request.httpVersion == .http1 else { return false }
        if sending.hasYielded || handle?.hasUnreadBytes != true {
            sending.hasYielded = false
            return false
        }
        sending.hasYielded = true
        sending.isHeld = true
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

    /// When the server last acknowledged further bytes since the previous call; nil when it did not. Bytes that the
    /// system has taken may be under way for longer than any timeout.
    func lastAcknowledgement(_ now: MonotonicInstant) -> MonotonicInstant? {
        guard content != nil, let seen = handle?.acknowledgement, seen.bytes > sending.acknowledged else { return nil }
        sending.acknowledged = seen.bytes
        return now.advanced(by: .milliseconds(-Int64(clamping: seen.age)))
    }
}
