/// A host's known state, and the limits that it has.
public struct HostRecord: WireRecord, Hashable {
    public var host = ""
    public var window = 0
    public var active = 0
    public var connections: Int?
    public var httpProtocol: OpenEnum<HostProtocol>?
    public var latency: Int64?
    public var rate: Int64?
    public var refusals: Int?
    public var reason: OpenEnum<HostReason>?
    public var maxConnections: Int?
    public var requestsPerMinute: Int?

    public init() {}

    public static let summary = "A host: how many transfers it may have at once, and the reason for this limit."
    public static let wireFields: WireFields<Self> = [
        .required("host", \.host, "Its name; with :port unless it is the scheme's default."),
        .required("window", \.window, "Current maximum of transfers at once."),
        .required("active", \.active, "Running transfers."),
        .optional("connections", \.connections, "Connections in use, as far as xferd knows."),
        .optional("protocol", \.httpProtocol, "The protocol of its last answer."),
        .optional("latency_ms", \.latency, "Milliseconds from a request to the first byte of its answer, smoothed."),
        .optional("recv_rate", \.rate, "Bytes per second, measured over the last round trip."),
        .optional("refusals", \.refusals, "Requests that it has refused or aborted while others were in progress."),
        .optional("reason", \.reason, "The reason why the window does not grow."),
        .optional("max_connections", \.maxConnections, "The host's own limit, set with queue.set_host."),
        .optional(
            "requests_per_minute", \.requestsPerMinute, "The host's own limit, set with queue.set_host."),
    ]
}

/// The HTTP version of a host.
public enum HostProtocol: String, Sendable, CaseIterable, WireEnum {
    case http1 = "http/1.1"
    case http2 = "http/2"
}

/// The reason why a host's window does not grow.
public enum HostReason: String, Sendable, CaseIterable, WireEnum {
    case growing
    /// Fewer transfers run than are allowed.
    case unneeded
    /// The window has its largest size.
    case most
    /// The host has refused more.
    case refused
    /// A larger window made nothing faster.
    case noGain = "no_gain"
    /// Other hosts at its address use the connections that they share with it.
    case sharedAddress = "shared_address"
    /// The host does not answer.
    case silent
}
