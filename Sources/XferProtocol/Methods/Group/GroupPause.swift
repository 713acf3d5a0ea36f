import StrictJSON
public import XferModel

/// `group.pause`: holds back a group's starts.
public enum GroupPause: RPCMethod {
    public typealias Result = GroupGet.Result

    public static let name = "group.pause"
    public static let summary =
        "Holds back a group's starts until group.resume, over restarts too and also of tasks that are added later. "
        + "Its tasks stay queued; what runs goes on unless running is true."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "with what runs", params: ["name": "isos", "running": true], result: ["group": GroupExample.paused])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""
        public var owner: Owner?
        public var running = false

        public init() {}

        public init(name: String, owner: Owner? = nil, running: Bool = false) {
            self.name = name
            self.owner = owner
            self.running = running
        }

        public static let summary = "Which group, and how far to pause it."
        public static let wireFields: WireFields<Self> = [
            .groupName(\.name), .groupOwner(\.owner),
            .defaulted(
                "running", \.running,
                "Whether running tasks go back to the queue with what they have; those that cannot go on later run on."),
        ]
    }
}
