public import XferModel

/// Decides which task is in a slot, and which leave it when another one joins.
///
/// Class of origin: UIView+WebCacheOperation, where setting an operation for a key cancels the one that is there.
public enum SlotRules {
    /// Whether a task in this state still holds its slot. A task that has ended has left it; a staged task still has to
    /// be committed and holds it.
    public static func isHeld(in state: TaskState) -> Bool { !state.isTerminal }

    /// The tasks that the newcomer supersedes, of all that were found in its slot. The newcomer is already among the
    /// found tasks, so that a shared transfer is never without a task.
    public static func superseded(by newcomer: TaskID, among found: [TransferTask]) -> [TransferTask] {
        found.filter { $0.id != newcomer && isHeld(in: $0.state) }
    }
}
