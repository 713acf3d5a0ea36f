/// `task.remove`: forgets ended tasks.
public enum TaskRemove: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.remove"
    public static let summary =
        "Forgets terminal tasks and deletes their kept partial bytes; never a published file."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = MethodExample.selection
}
