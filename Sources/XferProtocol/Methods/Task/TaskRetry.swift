/// `task.retry`: tries failed tasks again.
public enum TaskRetry: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.retry"
    public static let summary =
        "Queues failed tasks again as the same tasks, with the bytes they kept and their tries counted anew; suspects, too."
    public static let errors: [ErrorCode] = [.storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}
