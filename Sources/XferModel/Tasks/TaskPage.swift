/// One page of a list.
public struct TaskPage: Hashable, Sendable {
    public var tasks: [TransferTask]
    /// Nil on the last page.
    public var nextCursor: String?

    public init(tasks: [TransferTask], nextCursor: String? = nil) {
        self.tasks = tasks
        self.nextCursor = nextCursor
    }
}
