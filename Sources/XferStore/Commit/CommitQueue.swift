/// When to commit what: a pure decision. A commit starts at once when none is under way; what arrives meanwhile forms the
/// next one; changes that may be gathered wait for company, but not for long.
struct CommitQueue<Change> {
    /// What the caller has to do now.
    enum Action: Equatable {
        case nothing
        /// Start committing: call `next` on the writer's queue until it answers nil.
        case startCommitting
        /// Call `onGatheringTimeOver` when the gathering time is over.
        case startTimer
    }

    /// The most change-sets in one transaction: bounds how long one caller waits for the others.
    static var groupLimit: Int { 4096 }

    private var pending: [Change] = []
    private var isUrgent = false
    private var isCommitting = false
    private var isTimerRunning = false

    /// Changes that no commit has taken yet.
    var waitingCount: Int { pending.count }

    mutating func onChange(_ change: Change, _ urgency: Urgency) -> Action {
        pending.append(change)
        if urgency == .immediate { isUrgent = true }
        return decide()
    }

    /// Also when the store is closed: nothing waits any longer.
    mutating func onGatheringTimeOver() -> Action {
        isTimerRunning = false
        if !pending.isEmpty { isUrgent = true }
        return decide()
    }

    /// The next group, or nil when nothing has to be committed now.
    mutating func next() -> [Change]? {
        guard isUrgent else {
            isCommitting = false
            return nil
        }
        guard pending.count > Self.groupLimit else {
            isUrgent = false
            defer { pending = [] }
            return pending
        }
        defer { pending.removeFirst(Self.groupLimit) }
        return Array(pending.prefix(Self.groupLimit))
    }

    private mutating func decide() -> Action {
        if isUrgent {
            guard !isCommitting else { return .nothing }
            isCommitting = true
            return .startCommitting
        }
        guard !pending.isEmpty, !isTimerRunning else { return .nothing }
        isTimerRunning = true
        return .startTimer
    }
}
