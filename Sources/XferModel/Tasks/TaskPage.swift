/// One page of a list.
public struct TaskPage: Hashable, Sendable {
    public var tasks: [TransferTask]
    /// Tasks of this page whose rows are damaged: they are left out of `tasks`.
    public var unreadable: [TaskID] = []
    /// Nil on the last page.
    public var nextCursor: String?

    public init(tasks: [TransferTask], nextCursor: String? = nil) {
        self.tasks = tasks
        self.nextCursor = nextCursor
    }
}
