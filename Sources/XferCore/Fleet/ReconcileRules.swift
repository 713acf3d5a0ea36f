public import XferModel

/// Compares the fleet's list of a node's tasks with the tasks of the node's daemon.
///
/// It is called at the start, after a failover, and when events of the daemon were lost.
public enum ReconcileRules {
    /// The action about one task.
    public enum Step: Hashable, Sendable {
        /// The daemon has it: follow it.
        case follow
        /// It ended in the daemon, and the fleet does not know: report the end.
        case report
        /// The daemon does not have it: the node returns it, and the fleet decides.
        case giveBack
        /// The fleet has given it to another node, or it has ended: stop it here and remove it. Its bytes are not
        /// published.
        case abandon
        /// It has ended here and in the fleet: remove it.
        case remove
    }

    /// Decides the step for one task.
    ///
    /// - Parameters:
    ///   - isLeased: true if this node has claimed the task, according to the fleet.
    ///   - local: the task's state in the daemon; nil if the daemon does not have it.
    /// - Returns: nil if there is nothing to do.
    public static func step(isLeased: Bool, local: TaskState?) -> Step? {
        guard let local else { return isLeased ? .giveBack : nil }
        if local.isTerminal { return isLeased ? .report : .remove }
        return isLeased ? .follow : .abandon
    }

    /// The action for a task that was just claimed, although the daemon has one with the same key.
    ///
    /// The node claimed it before. A task that failed or was cancelled then is retried as a new task; a task that was
    /// published then is not fetched again.
    public static func step(claimedAgain local: TaskState) -> Step {
        switch local {
        case .completed: .report
        case .failed, .cancelled: .remove
        case .queued, .waiting, .running, .paused, .staged: .follow
        }
    }
}

/// The key by which a node's daemon knows a task of the fleet.
///
/// It is the `client_key`, so that adding a task again finds the one that exists.
public struct FleetTaskKey: Hashable, Sendable, CustomStringConvertible {
    /// Identifies the fleet: a daemon can be moved to another one.
    public let fleet: String
    public let task: Int64

    public init(fleet: String, task: Int64) {
        self.fleet = fleet
        self.task = task
    }

    /// Reads a key; nil if it is not a key of this fleet.
    public init?(_ text: String, fleet: String) {
        let prefix = "fleet:\(fleet):"
        guard text.hasPrefix(prefix), let task = Int64(text.dropFirst(prefix.count), radix: 10), task > 0,
            text == "\(prefix)\(task)"
        else { return nil }
        self.init(fleet: fleet, task: task)
    }

    public var description: String { "fleet:\(fleet):\(task)" }
}
