import StrictJSON

/// The methods of `slot.*`, in the order of the OpenRPC document.
enum SlotMethods {
    static let all: [any RPCMethod.Type] = [SlotGet.self, SlotDetach.self, SlotCancel.self]
}

/// `slot.get`: the task in a slot.
public enum SlotGet: RPCMethod {
    public static let name = "slot.get"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let hasLongAnswer = true
    public static let summary = "The task in one of the caller's slots."
    public static let examples = [
        MethodExample(
            "an occupied slot", params: ["slot": "avatar"],
            result: [
                "task": [
                    "id": 17, "owner": 1000, "state": "running", "url": "https://example.org/ada.png", "slot": "avatar",
                ]
            ]),
        MethodExample("an empty slot", params: ["slot": "banner"], result: ["task": nil]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var slot = ""

        public init() {}
        public init(slot: String) { self.slot = slot }

        public static let summary = "The slot."
        public static let wireFields: WireFields<Self> = [
            .required(
                "slot", \.slot, "The slot's name; every owner has slots of its own.",
                .length(1...TaskLimits.nameLength),
                .visible)
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var task: TaskRecord?

        public init() {}
        public init(task: TaskRecord?) { self.task = task }

        public static let summary = "The task concerned."
        public static let wireFields: WireFields<Self> = [
            .nullable("task", \.task, "The task; null when the slot was empty.")
        ]
    }
}

/// `slot.detach`: removes the task from a slot without cancelling it.
public enum SlotDetach: RPCMethod {
    public typealias Params = SlotGet.Params
    public typealias Result = SlotGet.Result

    public static let name = "slot.detach"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Removes the task from one of the caller's slots; the task continues, and a later task of the slot does not cancel it."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "its task continues", params: ["slot": "avatar"],
            result: ["task": ["id": 17, "owner": 1000, "state": "running", "url": "https://example.org/ada.png"]])
    ]
}

/// `slot.cancel`: cancels the task in a slot.
public enum SlotCancel: RPCMethod {
    public typealias Params = SlotGet.Params
    public typealias Result = SlotGet.Result

    public static let name = "slot.cancel"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary = "Cancels the task in one of the caller's slots, as task.cancel does."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "its task is cancelled", params: ["slot": "avatar"],
            result: [
                "task": [
                    "id": 17, "owner": 1000, "state": "cancelled", "url": "https://example.org/ada.png",
                    "slot": "avatar",
                ]
            ])
    ]
}
