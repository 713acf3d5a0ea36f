public import XferModel

/// The state of the network when a run failed. It decides which failures the network explains.
public struct NetworkCondition: Hashable, Sendable {
    public var isOffline: Bool
    /// True if, since the run began, an address or its link was removed, or the machine went offline.
    public var hasLostSinceStart: Bool
    /// True if a running link has a usable global address. Then hosts of the local network may be reachable even
    /// without a default route, and the kernel does not report when they appear or disappear.
    public var hasNeighbours: Bool

    public init(isOffline: Bool = false, hasLostSinceStart: Bool = false, hasNeighbours: Bool = false) {
        self.isOffline = isOffline
        self.hasLostSinceStart = hasLostSinceStart
        self.hasNeighbours = hasNeighbours
    }

    /// The condition to use when nothing is known about the network.
    public static let online = NetworkCondition()

    /// The task's action after a failure that the network explains.
    public enum Explanation: Hashable, Sendable {
        /// The task waits, because another attempt makes sense only after the network has changed.
        case waits
        /// The connection was lost together with its network. The task returns to the queue at once, and its next run
        /// shows whether there is another route. That run begins after the loss, so the same loss causes no further
        /// repetition.
        case again
    }

    /// The task's action after `error`; nil if the network does not explain the failure. If the machine is online and
    /// has lost nothing, an unreachable network is an ordinary failure, for example an IPv6 address where only IPv4 is
    /// available.
    public func explanation(of error: TransferError) -> Explanation? {
        switch error.reason {
        case .networkUnreachable, .dnsFailure:
            if isOffline { return .waits }
            return hasLostSinceStart ? .again : nil
        case .connectFailed, .connectTimeout, .connectionLost, .idleTimeout, .tooSlow, .shortBody:
            return hasLostSinceStart && error.httpStatus == nil ? .again : nil
        default:
            return nil
        }
    }
}
