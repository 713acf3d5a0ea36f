import XferCore

/// Digest authentication within one request. libcurl answers a 401 or 407 itself, and only the following lines show
/// whether it did. Another head means that it has repeated the request. A body, or the end, means that the pending head
/// was final.
struct Challenges {
    enum Event {
        case nothing
        /// The pending head was answered; a new head begins.
        case answered
        /// The pending head is the response.
        case final(ResponseHead)
        /// More challenges than any honest server sends.
        case endless
    }

    /// The highest number of challenges: a server may declare its nonce stale (RFC 7616 §3.3), and the proxy has
    /// challenges of its own.
    static let limit = 4

    /// The head whose meaning the next line decides, or nil.
    private var pending: ResponseHead?
    private var count = 0

    /// True if a head is pending: libcurl may repeat the request to answer it.
    var isPending: Bool { pending != nil }

    /// Receives a head. Returns true if the head becomes pending. `isAnswered` is true if libcurl may have an answer to
    /// it.
    mutating func onHead(_ head: ResponseHead, isAnswered: Bool) -> Bool {
        if isAnswered { pending = head }
        return isAnswered
    }

    /// Called when a header line arrives.
    mutating func onLine(_ line: UnsafeRawBufferPointer) -> Event {
        guard let head = pending else { return .nothing }
        pending = nil
        guard line.starts(with: "HTTP/".utf8) else { return .final(head) }
        count += 1
        return count > Self.limit ? .endless : .answered
    }

    /// Removes the pending head because a body or the end arrives, which makes it the response.
    mutating func removeFinal() -> ResponseHead? {
        defer { pending = nil }
        return pending
    }
}
