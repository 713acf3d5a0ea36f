import StrictJSON
public import XferModel

/// `group.set`: changes what is set for a group.
public enum GroupSet: RPCMethod {
    public typealias Result = GroupGet.Result

    public static let name = "group.set"
    public static let summary =
        "Sets a group's own limits, over restarts too and before it has tasks; the queue's limits hold beside it. "
        + "What runs above a lower limit goes on. Operators only."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "two at once", params: ["name": "isos", "max_active": 2], result: ["group": GroupExample.running])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""
        public var owner: Owner?
        public var maxActive = Patch<Int>.unchanged
        public var maxReceiveRate = Patch<Int64>.unchanged
        public var maxSendRate = Patch<Int64>.unchanged

        public init() {}

        public static let summary = "Which group, and what to set."
        public static let wireFields: WireFields<Self> = [
            .groupName(\.name), .groupOwner(\.owner),
            .patch(
                "max_active", \.maxActive, "Most of its transfers at once; null takes the limit back.",
                .range(1...10_000)),
            .patch(
                "max_recv_rate", \.maxReceiveRate,
                "Bytes per second its transfers may receive together; null takes the limit back.",
                .range(1...BandwidthLimits.highest)),
            .patch(
                "max_send_rate", \.maxSendRate,
                "Bytes per second its transfers may send together; null takes the limit back.",
                .range(1...BandwidthLimits.highest)),
        ]

        public func validate() throws(WireError) {
            guard maxActive.isChange || maxReceiveRate.isChange || maxSendRate.isChange else {
                throw WireError(.missing, expected: "at least one limit to change")
            }
        }
    }
}
