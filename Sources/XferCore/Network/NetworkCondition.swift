public import XferModel

/// How the network was when something failed, and what that explains.
public struct NetworkCondition: Hashable, Sendable {
    public var isOffline: Bool
    /// Whether a link or an address went away, or the last default route, while the attempt went on.
    public var hasLostSinceStart: Bool
    /// Whether there is a network of the machine's own, default route or not: hosts in it come and go, and the kernel does
    /// not notice.
    public var hasNeighbours: Bool

    public init(isOffline: Bool = false, hasLostSinceStart: Bool = false, hasNeighbours: Bool = false) {
        self.isOffline = isOffline
        self.hasLostSinceStart = hasLostSinceStart
        self.hasNeighbours = hasNeighbours
    }

    /// The default when nothing is known of the network.
    public static let online = NetworkCondition()

    /// What follows from a failure that is the network's fault.
    public enum Explanation: Hashable, Sendable {
        /// The network has to change before another try makes sense.
        case waits
        /// The connection went with the network under it: tried again at once, which finds out whether there is a way. It
        /// happens once for each loss, so it cannot go on for ever.
        case again
    }

    /// Nil when the failure would be the same with any network. An unreachable network while there is one (an IPv6 address
    /// where only IPv4 is) is a failure like others.
    public func explanation(of error: TransferError) -> Explanation? {
        switch error.reason {
        case .networkUnreachable, .dnsFailure:
            if isOffline { return .waits }
            return hasLostSinceStart ? .again : nil
        case .connectFailed, .connectTimeout, .connectionLost, .idleTimeout, .shortBody:
            return hasLostSinceStart && error.httpStatus == nil ? .again : nil
        default:
            return nil
        }
    }
}
