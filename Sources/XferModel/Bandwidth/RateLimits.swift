/// Limits on how fast transfers may go together, in bytes per second and each direction.
public struct RateLimits: Hashable, Sendable {
    /// What is received; a scope without an entry is unlimited.
    public var receive: [RateScope: Int64]
    /// Content that is sent; a scope without an entry is unlimited.
    public var send: [RateScope: Int64]

    public init(receive: [RateScope: Int64] = [:], send: [RateScope: Int64] = [:]) {
        self.receive = receive
        self.send = send
    }
}

/// Which transfers share a limit. A transfer is held to all limits it is in the scope of.
public enum RateScope: Hashable, Sendable {
    /// Every transfer of the service.
    case service
    /// Those of a group's tasks.
    case group(GroupKey)
    /// Those of the tasks that use a profile.
    case profile(String)
}
