import CCurl
import XferModel

/// Sending. All of it runs inside libcurl's callbacks.
extension Exchange {
    /// Fills the buffer with what comes next; anything but a count ends the request or says "later". Never 0 before the end:
    /// libcurl would take that for the end, and the server would wait for the rest.
    func onContentWanted(from reader: ContentReader, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        noteContentWanted()
        keepSocket()
        if run.isSendingPaused || !run.maySend() {
            noteSent()
            isSendingHeld = true
            return Int(CURL_READFUNC_PAUSE)
        }
        do throws(TransferError) {
            let chunk = buffer.prefix(run.sendChunk)
            let start = reader.position
            let count = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: chunk))
            noteSent()
            if yieldsToAnswer(), reader.seek(to: start) { return Int(CURL_READFUNC_PAUSE) }
            run.onSent(count)
            return count
        } catch {
            refusal = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// A server that refuses early may reset the connection right behind its answer. Sending into that would lose the answer,
    /// so libcurl is made to read first, once for each chunk. HTTP/2 answers on streams, and there is always something to
    /// read.
    private func yieldsToAnswer() -> Bool {
        guard !hasAnswer, url.scheme == .http || run.attempt.request.httpVersion == .http1 else { return false }
        if hasYielded || handle?.hasUnreadBytes != true {
            hasYielded = false
            return false
        }
        hasYielded = true
        isSendingHeld = true
        run.core.unpauseSoon(run)
        return true
    }

    /// Tells the progress what libcurl has handed to the system.
    func noteSent() {
        guard let content, let handle else { return }
        let sent = handle.contentSent
        let total = content.length ?? handle.contentLength
        run.progress.update { $0.noteSent(sent, of: total) }
    }

    /// When the server last acknowledged bytes that it had not acknowledged when this was last asked: what the system took
    /// from us may be on its way for longer than any timeout. Nil when it did not.
    func lastAcknowledgement(_ now: MonotonicInstant) -> MonotonicInstant? {
        guard content != nil, let seen = handle?.acknowledgement, seen.bytes > acknowledged else { return nil }
        acknowledged = seen.bytes
        return now.advanced(by: .milliseconds(-Int64(clamping: seen.age)))
    }
}
