public import XferModel

/// The state of the network when a run failed, and which failures it explains.
public struct NetworkCondition: Hashable, Sendable {
    public var isOffline: Bool
    /// Whether a link, an address or the last default route was lost since the run began.
    public var hasLostSinceStart: Bool
    /// Whether the machine has a network of its own, with a default route or not: hosts in it appear and disappear, and
    /// the kernel does not notice.
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
        /// The connection was lost with its network: the task returns to the queue at once, and its next run shows
        /// whether there is another route. That run begins after the loss, so this cannot go on for ever.
        case again
    }

    /// Nil when the network does not explain the failure. An unreachable network while the machine is online (an IPv6
    /// address where only IPv4 is available) is a failure like others.
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
