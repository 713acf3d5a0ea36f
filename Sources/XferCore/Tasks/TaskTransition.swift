public import XferModel

/// The result of one transition: the changes to commit and the action.
public struct TaskTransition: Hashable, Sendable {
    /// Committed with the task; nil when clients need not know.
    public var event: EventPayload?
    /// Run after the commit.
    public var action: TaskAction
    /// True if the state moved: false makes a verb report `unchanged`.
    public var isChange: Bool

    public init(event: EventPayload?, action: TaskAction = .none) {
        self.event = event
        self.action = action
        isChange = true
    }

    private init() {
        event = nil
        action = .none
        isChange = false
    }

    /// The state does not allow the command, or is already the requested one.
    public static let unchanged = TaskTransition()
}

/// An effect that a transition requires.
public enum TaskAction: Hashable, Sendable {
    case none
    /// Make a scheduling pass, since a task may be able to start now.
    case schedule
    case startAttempt
    /// Stop at the next safe point and keep the bytes.
    case stopAttempt
    case stopAttemptAndDiscardBytes
    /// Delete partial and staged bytes of a task that has no attempt.
    case discardBytes
    /// Delete kept bytes and the row.
    case forget
}
