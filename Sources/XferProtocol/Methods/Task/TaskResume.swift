/// `task.resume`: lets paused tasks go on.
public enum TaskResume: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.resume"
    public static let summary =
        "Queues paused tasks again; waiting ones try now where that can help (retry, network, host_cooldown, out_of_descriptors, suspect)."
    public static let errors: [ErrorCode] = [.storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}
