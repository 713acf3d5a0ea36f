import XferModel

/// Adds tasks and changes them for callers: decides within a store transaction, commits, and lets the scheduler carry out
/// what follows. It has no state of its own.
public struct TaskCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let scheduler: RunScheduler
    let discarder: TransferDiscarder
    let queries: TaskQueries
}
