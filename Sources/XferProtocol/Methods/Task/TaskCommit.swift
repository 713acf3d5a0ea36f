/// `task.commit`: publishes what is staged.
public enum TaskCommit: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.commit"
    public static let summary =
        "Publishes staged downloads (finalize manual) under their final names. All ids are looked at before the first file "
        + "gets its name; one that cannot be published, because its name is taken, the disk is full or its bytes were "
        + "touched, stays staged, and the answer is a conflict whose reason is one of a failed task's. Committing a "
        + "completed task changes nothing."
    public static let errors: [ErrorCode] = [.conflict, .storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}
