import Glibc
import XferModel

/// Tasks as their rows are: a task that starts, publishes and ends is read by three transactions within moments, and
/// the next one would read what the last one wrote.
///
/// Exact, because SQLite reports every row that any statement of the connection changes (sqlite3_update_hook), and no
/// other connection writes. Used on the writer's queue only.
final class TaskCache: RowChangeListener {
    /// Several times the number of tasks that run at once; beyond it the cache is emptied.
    private static let maxTasks = 256

    private var tasks: [TaskID: TransferTask] = [:]

    subscript(id: TaskID) -> TransferTask? {
        get { tasks[id] }
        set {
            if tasks.count >= Self.maxTasks, tasks[id] == nil { tasks.removeAll(keepingCapacity: true) }
            tasks[id] = newValue
        }
    }

    /// A row was inserted, changed or deleted.
    func onChange(ofTable table: UnsafePointer<CChar>, row: Int64) {
        guard !tasks.isEmpty, strcmp(table, "task") == 0 else { return }
        tasks[TaskID(row)] = nil
    }

    /// The transaction was rolled back.
    func forgetAll() { tasks.removeAll(keepingCapacity: true) }
}
