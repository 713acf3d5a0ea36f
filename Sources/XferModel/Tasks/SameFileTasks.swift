/// The tasks of one call that name the same file.
///
/// If one of them replaces an existing file, all must have the same content: otherwise one would replace the other's
/// file, and both would end completed. Tasks that rename, skip or fail may differ.
public struct SameFileTasks<Content: Equatable, Task> {
    private var first: (task: Task, content: Content)?
    /// A task with other content than the first one's.
    private var other: Task?
    /// True if a task replaces an existing file. Then all have the first one's content.
    private var isReplaced = false

    public init() {}

    /// Inserts a task unless it and an earlier one would replace each other's file.
    ///
    /// - Returns: the earlier task, if there is one; then nothing was inserted.
    public mutating func insert(_ task: Task, content: Content, _ policy: ConflictPolicy) -> Task? {
        guard let first else {
            self.first = (task: task, content: content)
            isReplaced = policy.replaces
            return nil
        }
        if first.content != content {
            guard !policy.replaces, !isReplaced else { return first.task }
            other = other ?? task
        } else if policy.replaces {
            if let other { return other }
            isReplaced = true
        }
        return nil
    }
}
