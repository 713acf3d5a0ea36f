public import XferModel

/// Who is in a slot, and who leaves it when another one joins.
///
/// Class of origin: UIView+WebCacheOperation, where setting an operation for a key cancels the one that is there.
public enum SlotRules {
    /// Whether a task in this state is in the slot it was added to. What has ended has left it; what is staged is still to be
    /// handed over and holds it.
    public static func isHeld(in state: TaskState) -> Bool { !state.isTerminal }

    /// Those whom the newcomer supersedes, of all that were found in its slot: the newcomer is already among them, so that
    /// whatever the tasks share is never without a user.
    public static func superseded(by newcomer: TaskID, among found: [TransferTask]) -> [TransferTask] {
        found.filter { $0.id != newcomer && isHeld(in: $0.state) }
    }
}
