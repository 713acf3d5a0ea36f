/// `task.pause`: holds tasks back.
public enum TaskPause: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.pause"
    public static let summary =
        "Pauses tasks; what runs stops at its last committed byte. Pausing a paused task changes nothing."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = MethodExample.selection
}
