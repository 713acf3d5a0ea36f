/// Common rate limits of transfers, in bytes per second and each direction.
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

/// The transfers that share a limit. All limits whose scope a transfer is in hold for it.
public enum RateScope: Hashable, Sendable {
    /// Every transfer of the service.
    case service
    /// The transfers of a group's tasks.
    case group(GroupKey)
    /// The transfers of the tasks that use a profile.
    case profile(String)
}
