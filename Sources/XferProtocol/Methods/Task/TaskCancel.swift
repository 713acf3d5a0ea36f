/// `task.cancel`: ends tasks.
public enum TaskCancel: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.cancel"
    public static let summary =
        "Cancels unfinished tasks and deletes their partial bytes; never a published file."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = MethodExample.selection
}
