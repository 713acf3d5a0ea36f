/// Where `move` puts a task among its host's queued tasks; "before" means that it starts earlier.
public enum MovePosition: Hashable, Sendable {
    /// Starts next; its host is served next, too.
    case top
    case bottom
    case before(TaskID)
    case after(TaskID)
}
