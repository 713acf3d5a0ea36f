import StrictJSON

/// `slot.get`: the task in a slot.
public enum SlotGet: RPCMethod {
    public static let name = "slot.get"
    public static let summary = "The task in a slot of the caller's."
    public static let examples = [
        MethodExample(
            "somebody is in it", params: ["slot": "avatar"],
            result: [
                "task": [
                    "id": 17, "owner": 1000, "state": "running", "url": "https://example.org/ada.png", "slot": "avatar",
                ]
            ]),
        MethodExample("nobody is in it", params: ["slot": "banner"], result: ["task": nil]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var slot = ""

        public init() {}
        public init(slot: String) { self.slot = slot }

        public static let summary = "Which slot."
        public static let wireFields: WireFields<Self> = [
            .required(
                "slot", \.slot, "The slot's name; every owner has slots of its own.",
                .length(1...TaskLimits.nameLength),
                .printable)
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var task: TaskRecord?

        public init() {}
        public init(task: TaskRecord?) { self.task = task }

        public static let summary = "The task it is about."
        public static let wireFields: WireFields<Self> = [
            .nullable("task", \.task, "The task; null when the slot was empty.")
        ]
    }
}
