import StrictJSON

/// `queue.resume`: lets tasks start again.
public enum QueueResume: RPCMethod {
    public typealias Params = NoParams
    public typealias Result = QueuePause.Result

    public static let name = "queue.resume"
    public static let summary = "Lets tasks start again. Tasks that are paused themselves stay so."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [MethodExample("go on", params: [:], result: ["paused": false])]
}
