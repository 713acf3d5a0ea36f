import StrictJSON

/// `slot.detach`: empties a slot without a cancel.
public enum SlotDetach: RPCMethod {
    public typealias Params = SlotGet.Params
    public typealias Result = SlotGet.Result

    public static let name = "slot.detach"
    public static let summary =
        "Takes the task out of a slot of the caller's; the task goes on, and nothing that joins the slot later ends it."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "it goes on", params: ["slot": "avatar"],
            result: ["task": ["id": 17, "owner": 1000, "state": "running", "url": "https://example.org/ada.png"]])
    ]
}
