import StrictJSON

/// `slot.cancel`: cancels the task in a slot.
public enum SlotCancel: RPCMethod {
    public typealias Params = SlotGet.Params
    public typealias Result = SlotGet.Result

    public static let name = "slot.cancel"
    public static let summary = "Cancels the task in a slot of the caller's, as task.cancel does."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "it is cancelled", params: ["slot": "avatar"],
            result: [
                "task": [
                    "id": 17, "owner": 1000, "state": "cancelled", "url": "https://example.org/ada.png",
                    "slot": "avatar",
                ]
            ])
    ]
}
