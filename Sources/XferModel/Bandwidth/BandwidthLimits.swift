/// Bytes per second in both directions; 0 is unlimited.
public struct BandwidthLimits: Hashable, Sendable, CustomStringConvertible {
    public var receive: Int64
    public var send: Int64

    public init(receive: Int64 = 0, send: Int64 = 0) {
        self.receive = receive
        self.send = send
    }

    /// Reads a rate for both directions, `RECEIVED/SENT`, or `off`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let receive = Self.rate(parts[0]),
            let send = Self.rate(parts[parts.count - 1])
        else { return nil }
        self.init(receive: receive, send: send)
    }

    public var description: String {
        receive == send ? Self.text(receive) : "\(Self.text(receive))/\(Self.text(send))"
    }

    /// Highest rate that is accepted as a limit, bytes per second.
    public static let highest: Int64 = 1 << 50

    private static func rate(_ text: some StringProtocol) -> Int64? {
        if text == "off" || text == "0" { return 0 }
        guard let rate = ByteSizeText.parse(String(text)), (1...highest).contains(rate) else { return nil }
        return rate
    }

    private static func text(_ rate: Int64) -> String { rate == 0 ? "off" : ByteSizeText.format(rate) }
}

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
