import XferCore
import XferModel

/// The request of one hop: a redirect changes the URL, perhaps the method, and with it the content.
struct HopRequest {
    var url: HTTPURL
    var method: HTTPMethod
    /// The request's content; nil for methods without content. Dropped when a redirect changes the method.
    var content: RequestContent?
    var plan: RequestPlan
    /// True if the request must not use a connection that was used before; see `HopConnection.isStale`.
    var needsNewConnection = false
    var addresses = AddressChoice.preferred
}

/// The part of a hop's response head that has been received.
///
/// Invariant: `head` is set once, for the first response that libcurl does not answer with a credential itself.
struct HopResponse {
    var parser = HeadParser()
    /// Distinguishes a 401 that libcurl answers from a final one.
    var challenges = Challenges()
    var head: ResponseHead?
    /// See `AttemptOutcome.codings`.
    var codings: [ContentCoding] = []
}

/// The facts about the connection that carries a hop's request.
///
/// Invariant: after libcurl has reported a connection, all properties except `handshakes`, `admission`, `addresses` and
/// `sentBefore` describe that connection and no earlier one.
struct HopConnection {
    var handshakes = Handshakes()
    var admission = ConnectionAdmission()
    var addresses = HopAddresses()
    /// True if libcurl has reported a connection over which the request could be sent.
    var isConnected = false
    /// True if the server has sent anything over the present connection.
    var hasReceived = false
    /// The number of bytes of requests that were sent before the first connection was ready: a proxy's CONNECT. Nil
    /// until then.
    var sentBefore: Int?
    /// True if libcurl wants to repeat a request whose answer has begun; see `Hop.isRepeatedAnswer`.
    var isRepeated = false
    /// The connection's `SSL`, if the body ends with the connection; see `Hop.watchEnd`.
    var watchedTLS: UnsafeMutableRawPointer?
    /// True if unread bytes waited on a reused connection; see `Hop.isUnclean`.
    var isStale = false
    var hasSecureProxy = false
    /// Keeps received bytes readable after libcurl has closed the socket; see `Hop.readEarlyResponse`.
    var spare: SpareSocket?
}

/// The TLS handshakes that a request has led to. It records whether the origin was judged in one of them.
struct Handshakes {
    enum Party: Hashable, Sendable {
        case origin
        case proxy
    }

    /// True if the origin of this request has shown its certificates and was judged, with any verdict.
    private(set) var isOriginJudged = false
    /// The party of the handshake that was prepared last; nil if there was none.
    private(set) var latest: Party?
    private var requesters: Set<Party> = []
    private var isProxyNext = false

    mutating func onSocket(hasSecureProxy: Bool) {
        if hasSecureProxy { isProxyNext = true }
    }

    /// Returns the party of the handshake that is being prepared: through an `https` proxy there are two for one
    /// socket.
    mutating func onContext() -> Party {
        defer { isProxyNext = false }
        let party: Party = isProxyNext ? .proxy : .origin
        latest = party
        return party
    }

    mutating func onCertificateRequest(_ party: Party) { requesters.insert(party) }

    /// True if the party requested a client certificate.
    func hasRequestedCertificate(_ party: Party) -> Bool { requesters.contains(party) }

    mutating func onVerdict(_ party: Party) {
        if party == .origin { isOriginJudged = true }
    }
}

/// The facts that the hops of an attempt have shown so far.
///
/// Invariant: `requestWasSent` is false only if no server can have acted on the request in its present form.
struct HopHistory {
    /// The last response's head, from any hop.
    var head: ResponseHead?
    /// True if a server may have begun to act on the request.
    var requestWasSent = false

    /// Handles a redirect. A server that has acted on a request would not redirect it unchanged.
    ///
    /// - Parameters:
    ///   - isNewMethod: true if the next hop has another method.
    ///   - wasSent: true if bytes of the redirected request were sent.
    mutating func onRedirect(isNewMethod: Bool, wasSent: Bool) {
        requestWasSent = isNewMethod && (requestWasSent || wasSent)
    }
}
