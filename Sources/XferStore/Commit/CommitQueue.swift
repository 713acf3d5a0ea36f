/// Decides what to commit and when: a pure decision. A commit starts at once if none is in progress; changes that
/// arrive meanwhile form the next one. `gathered` changes may wait for others, but not for long. Bulky changes are
/// committed one by one, alternating with the other changes, so that a small change waits for at most one of them.
struct CommitQueue<Change> {
    /// The caller's next action.
    enum Action: Equatable {
        case nothing
        /// Start committing: call `next` on the writer's queue until it returns nil.
        case startCommitting
        /// Call `onGatheringTimeOver` when the gathering time has passed.
        case startTimer
    }

    /// The most change-sets in one transaction: bounds how long one caller waits for the others.
    static var groupLimit: Int { 4096 }

    private var pending: [Change] = []
    private var bulky: [Change] = []
    /// True if the last group was a bulky change: then the other changes are next.
    private var wasBulky = false
    private var isUrgent = false
    private var isCommitting = false
    private var isTimerRunning = false

    /// True if changes that are not bulky are committed with the next group. A `gathered` change that came while a
    /// bulky one was waiting has no timer: it is committed as soon as possible.
    private var isDue: Bool { isUrgent || !pending.isEmpty && !isTimerRunning }

    /// The number of changes that no commit has taken yet.
    var waitingCount: Int { pending.count + bulky.count }

    mutating func onChange(_ change: Change, _ urgency: Urgency) -> Action {
        switch urgency {
        case .immediate:
            pending.append(change)
            isUrgent = true
        case .gathered: pending.append(change)
        case .bulky: bulky.append(change)
        }
        return decide()
    }

    /// Ends the gathering, also when the store is closed: no change waits any longer.
    mutating func onGatheringTimeOver() -> Action {
        isTimerRunning = false
        if !pending.isEmpty { isUrgent = true }
        return decide()
    }

    /// The next group, or nil when nothing has to be committed now.
    mutating func next() -> [Change]? {
        if !bulky.isEmpty, !isDue || !wasBulky {
            wasBulky = true
            return [bulky.removeFirst()]
        }
        wasBulky = false
        guard isDue else {
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
        if isUrgent || !bulky.isEmpty {
            guard !isCommitting else { return .nothing }
            isCommitting = true
            return .startCommitting
        }
        guard !pending.isEmpty, !isTimerRunning else { return .nothing }
        isTimerRunning = true
        return .startTimer
    }
}
