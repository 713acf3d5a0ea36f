import XferCore

/// What the hops of an attempt have shown so far.
///
/// Invariant: `requestWasSent` is false only if no server can have acted on the request as it is sent now.
struct HopHistory {
    /// The last response's head, from any hop.
    var head: ResponseHead?
    /// Whether a server may have begun to act on the request.
    var requestWasSent = false

    /// A server that has acted would not redirect the same request.
    ///
    /// - Parameters:
    ///   - isNewMethod: whether the next hop has another method.
    ///   - wasSent: whether bytes of the redirected request were sent.
    mutating func onRedirect(isNewMethod: Bool, wasSent: Bool) {
        requestWasSent = isNewMethod && (requestWasSent || wasSent)
    }
}
