/// Which TLS handshakes a request has led to, and whether the origin was judged in one of them.
struct Handshakes {
    enum Party: Hashable, Sendable {
        case origin
        case proxy
    }

    /// The origin of this request showed its certificates and was judged, whatever the verdict.
    private(set) var isOriginJudged = false
    private var isProxyNext = false

    mutating func onSocket(hasSecureProxy: Bool) {
        if hasSecureProxy { isProxyNext = true }
    }

    /// The party of the handshake that is being prepared: through an `https` proxy there are two for one socket.
    mutating func onContext() -> Party {
        defer { isProxyNext = false }
        return isProxyNext ? .proxy : .origin
    }

    mutating func onVerdict(_ party: Party) {
        if party == .origin { isOriginJudged = true }
    }
}
