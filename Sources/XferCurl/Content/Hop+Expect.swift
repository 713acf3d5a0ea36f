import NIOConcurrencyHelpers
import XferCore
import XferModel

/// `Expect: 100-continue`: a server is asked before a large content is sent to it.
///
/// libcurl adds the field over HTTP/1.1 and waits. This code decides whether it may, and remembers servers that do not
/// answer it. After a 417 libcurl would repeat the request by itself, and the hop's head would not show that; so the
/// repetition is done here.
extension Hop {
    /// Whether the server should be asked first. libcurl signs each line of a request as it stands, so a signed request
    /// gets no `Expect`.
    func mayAskFirst() -> Bool {
        guard let content, !authentication.isSigned, content.sourceLength >= ContinueMemory.smallestContent else {
            return false
        }
        let now = run.core.now
        return run.core.shared.continues.withLockedValue { $0.mayAsk(url.origin, now: now) }
    }

    /// libcurl wants content for the first time since the request was sent: the server has answered 100, or nothing.
    /// Over HTTP/2, which does not use the expectation, that is at once.
    func endExpectation() {
        guard let askedAt = sending.askedAt else { return }
        sending.askedAt = nil
        let isSilent = !hasContinued && !hasAnswer
        guard isSilent, askedAt.duration(to: run.core.now) >= ContinueMemory.patience * 0.9 else { return }
        recordSilence()
    }

    /// Whether the head refuses only the expectation; then the request is repeated without it.
    func refusesQuestion(_ head: ResponseHead) -> Bool {
        guard sending.asksFirst, head.status == 417 else { return false }
        recordSilence()
        return true
    }

    private func recordSilence() {
        let now = run.core.now
        run.core.shared.continues.withLockedValue { $0.recordSilence(of: url.origin, now: now) }
    }
}
