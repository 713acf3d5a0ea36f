import XferCore

/// Digest authentication within one request. libcurl answers a 401 or 407 itself, and only what follows shows whether
/// it did. Another head: it has repeated the request. A body, or the end: the held head was final.
struct Challenges {
    enum Event {
        case nothing
        /// The held head was answered; a new head begins.
        case answered
        /// The held head is the response.
        case final(ResponseHead)
        /// More challenges than any honest server has.
        case endless
    }

    /// A server may declare its nonce stale (RFC 7616 §3.3), and the proxy has challenges of its own.
    static let limit = 4

    /// A head that is held back.
    private var held: ResponseHead?
    private var count = 0

    /// Whether a head is held back: libcurl may repeat the request to answer it.
    var isHeld: Bool { held != nil }

    /// Whether the head is held back. `isAnswered`: libcurl may have an answer to it.
    mutating func onHead(_ head: ResponseHead, isAnswered: Bool) -> Bool {
        if isAnswered { held = head }
        return isAnswered
    }

    /// A header line comes.
    mutating func onLine(_ line: UnsafeRawBufferPointer) -> Event {
        guard let head = held else { return .nothing }
        held = nil
        guard line.starts(with: "HTTP/".utf8) else { return .final(head) }
        count += 1
        return count > Self.limit ? .endless : .answered
    }

    /// A body or the end comes: the held head is the response.
    mutating func removeFinal() -> ResponseHead? {
        defer { held = nil }
        return held
    }
}
