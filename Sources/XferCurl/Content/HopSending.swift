import XferModel

/// How far the request of a hop was sent.
///
/// Invariant: `isHeld` is true exactly while libcurl was asked to pause sending and was not asked to resume.
struct HopSending {
    /// Whether bytes of the request went out.
    var wasSent = false
    /// Whether libcurl was asked to ask for content later.
    var isHeld = false
    /// Whether the present chunk has been delayed once for a response of the server.
    var hasYielded = false
    /// Whether the request has `Expect: 100-continue`.
    var asksFirst = false
    /// When that request was sent; nil once the content is sent, too.
    var askedAt: MonotonicInstant?
    /// Bytes that the server has acknowledged; see `Hop.lastAcknowledgement`.
    var acknowledged: UInt64 = 0
}
