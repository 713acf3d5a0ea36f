import StrictJSON

/// `events.unsubscribe`: ends a stream.
public enum EventsUnsubscribe: RPCMethod {
    public typealias Result = Done

    public static let name = "events.unsubscribe"
    public static let summary = "Ends a stream of events; after the answer none of it follows."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [MethodExample("end it", params: ["subscription": 1], result: [:])]

    public struct Params: WireInput, WireParams, Hashable {
        public var subscription: Int64 = 0

        public init() {}
        public init(subscription: Int64) { self.subscription = subscription }

        public static let summary = "Which subscription."
        public static let wireFields: WireFields<Self> = [
            .required("subscription", \.subscription, "What events.subscribe answered.", .sequenceNumber)
        ]
    }
}
