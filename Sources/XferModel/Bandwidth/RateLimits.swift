/// Rate limits that several transfers share, in bytes per second, for each direction.
public struct RateLimits: Hashable, Sendable {
    /// Limits for received content; a scope without an entry is unlimited.
    public var receive: [RateScope: Int64]
    /// Limits for sent content; a scope without an entry is unlimited.
    public var send: [RateScope: Int64]

    public init(receive: [RateScope: Int64] = [:], send: [RateScope: Int64] = [:]) {
        self.receive = receive
        self.send = send
    }
}

/// The transfers that share a limit. A transfer obeys the limits of all its scopes.
public enum RateScope: Hashable, Sendable {
    /// Every transfer of the service.
    case service
    /// The transfers of a group's tasks.
    case group(GroupKey)
    /// The transfers of the tasks that use a profile.
    case profile(String)
}
