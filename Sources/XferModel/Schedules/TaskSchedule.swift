/// The times at which a task may run: by the calendar, and after which other tasks.
public struct TaskSchedule: Hashable, Sendable, Codable {
    /// The task's earliest start time.
    public var notBefore: Timestamp?
    /// The task runs within these times only.
    public var window: TimeWindow?
    /// The task fails then, unless it has ended or is staged.
    public var deadline: Timestamp?
    /// The task starts when all these have completed; a negative id, within one add, counts back from the task's own
    /// place.
    public var after: [TaskID]
    /// The batch whose members have to complete first; nil is none.
    public var afterBatch: BatchID?
    /// The owner's group whose tasks have to complete first: those that were unfinished when this was set. Nil is none.
    public var afterGroup: String?
    /// The name of a lease that has to be in force while the task runs; nil is none. A caller that distributes tasks to
    /// many daemons renews it. So a daemon that loses the connection to that caller stops the tasks on its own.
    public var lease: String?

    public init(
        notBefore: Timestamp? = nil, window: TimeWindow? = nil, deadline: Timestamp? = nil, after: [TaskID] = []
    ) {
        self.notBefore = notBefore
        self.window = window
        self.deadline = deadline
        self.after = after
    }

    /// True if the task may start as soon as it is picked, at any time.
    public var isEmpty: Bool { !hasCalendar && !hasTargets }

    /// True if other tasks have to complete first.
    public var hasTargets: Bool { !after.isEmpty || hasJoin }

    /// True if the members of a batch or the tasks of a group have to complete first.
    public var hasJoin: Bool { afterBatch != nil || afterGroup != nil }

    /// True if both name the same tasks that have to complete first.
    public func hasTargets(of other: TaskSchedule) -> Bool {
        after == other.after && afterBatch == other.afterBatch && afterGroup == other.afterGroup
    }

    /// True if the start depends on the time.
    public var hasCalendar: Bool { notBefore != nil || window != nil || deadline != nil || lease != nil }
}

extension TaskSchedule: ChoiceSubject {
    /// A client's choices of the calendar. `after` is a separate choice, since a new task can also refer to tasks of
    /// the same call.
    public struct Choices: Hashable, Sendable {
        public var notBefore = Patch<Timestamp>.unchanged
        public var window = Patch<TimeWindow>.unchanged
        public var deadline = Patch<Timestamp>.unchanged
        public var lease = Patch<String>.unchanged
        public var afterBatch = Patch<BatchID>.unchanged
        public var afterGroup = Patch<String>.unchanged

        public init() {}
    }

    public static let choiceTable: [Choice<Self>] = [
        Choice(\.notBefore, optional: \.notBefore),
        Choice(\.window, optional: \.window),
        Choice(\.deadline, optional: \.deadline),
        Choice(\.lease, optional: \.lease),
        Choice(\.afterBatch, optional: \.afterBatch),
        Choice(\.afterGroup, optional: \.afterGroup),
    ]
}
