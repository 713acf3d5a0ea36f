public import XferModel

/// Compares what the fleet says that a node holds with what the node's daemon has.
///
/// It is decided at the start, after a failover, and when events of the daemon were lost.
public enum ReconcileRules {
    /// The action about one task.
    public enum Step: Hashable, Sendable {
        /// The daemon has it: follow it.
        case follow
        /// It ended in the daemon, and the fleet does not know: report the end.
        case report
        /// The daemon does not have it: the fleet decides what becomes of it.
        case giveBack
        /// The fleet has given it to another node, or it is over: stop it here and forget it. Its bytes are not
        /// published.
        case abandon
        /// It is over here and there: forget it.
        case remove
    }

    /// - Parameters:
    ///   - isLeased: whether the fleet says that this node holds the task.
    ///   - local: the task's state in the daemon; nil if it is not there.
    /// - Returns: nil if there is nothing to do.
    public static func step(isLeased: Bool, local: TaskState?) -> Step? {
        guard let local else { return isLeased ? .giveBack : nil }
        if local.isTerminal { return isLeased ? .report : .remove }
        return isLeased ? .follow : .abandon
    }

    /// The action about a task that was claimed just now, although the daemon has one of the same key.
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
    /// Names the fleet: a daemon can be moved to another one.
    public let fleet: String
    public let task: Int64

    public init(fleet: String, task: Int64) {
        self.fleet = fleet
        self.task = task
    }

    /// Reads a key; nil if it is none of this fleet.
    public init?(_ text: String, fleet: String) {
        let prefix = "fleet:\(fleet):"
        guard text.hasPrefix(prefix), let task = Int64(text.dropFirst(prefix.count), radix: 10), task > 0,
            text == "\(prefix)\(task)"
        else { return nil }
        self.init(fleet: fleet, task: task)
    }

    public var description: String { "fleet:\(fleet):\(task)" }
}
