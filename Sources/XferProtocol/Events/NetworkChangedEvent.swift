public import XferModel

/// `network.changed`.
public struct NetworkChangedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.networkChanged)
    public var network = OpenEnum(NetworkState.unknown)

    public init() {}

    public init(_ state: NetworkState) {
        network = OpenEnum(state)
    }

    public static let summary =
        "The network is another one; the first after daemon.started says how it is then. See network.status."
    public static let wireFields: WireFields<Self> = [
        .required("network", \.network, "What it is now.")
    ]
}
