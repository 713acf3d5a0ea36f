import NIOConcurrencyHelpers
public import XferModel

/// The queue of one subscriber: durable events in order, and the latest progress of each task.
public final class EventSubscription: Sendable {
    /// What a subscriber receives.
    public enum Delivery: Hashable, Sendable {
        case event(Event)
        case progress(ProgressSnapshot)
        /// The subscriber fell behind. Nothing follows; `events.since` continues from `lastSeq`.
        case overflow(lastSeq: Int64)
    }

    private struct State {
        var queue: [Delivery] = []
        /// Deliveries that the reader got last and may still hold.
        var inHand = 0
        /// Deliveries reserved in the budget.
        var counted = 0
        var progress: [TaskID: ProgressSnapshot] = [:]
        /// The newest counters of each task, needed for its last progress when it ends.
        var latest: [TaskID: ProgressSnapshot] = [:]
        /// The newest event that the reader has got. Events queued after it are lost in an overflow.
        var lastTaken: Int64
        var hasEnded = false

        /// Drops the pending and the newest counters of the event's task.
        mutating func forgetProgress(of event: Event) {
            guard let taskID = event.taskID else { return }
            progress[taskID] = nil
            latest[taskID] = nil
        }

        /// Queues a task's last progress before its terminal event; it shows 100 % if the task completed.
        mutating func queueLastProgress(before event: Event) {
            guard let taskID = event.taskID else { return }
            progress[taskID] = nil
            var last = latest.removeValue(forKey: taskID)
            if case .taskCompleted(_, let size, _, _) = event.payload, let owner = event.owner {
                last =
                    last
                    ?? ProgressSnapshot(
                        taskID: taskID, owner: owner, phase: .publishing, received: size, total: size, rate: 0)
                if last?.kind == .upload { last?.sent = size } else { last?.received = size }
                last?.total = size
            }
            if let last { queue.append(.progress(last)) }
        }
    }

    public let id: Int
    public let filter: EventFilter
    /// The newest event when the subscription began: older ones are in the store, newer ones are delivered here.
    public let startSeq: Int64
    private let capacity: Int
    private let budget: EventBudget?
    private let state: AwaitedState<State>

    /// The highest number of deliveries returned at once.
    private static let largestBatch = 200
    /// The estimated memory of one delivery, including its texts, in bytes.
    static let cost = MemoryLayout<Delivery>.stride + 128

    init(id: Int, filter: EventFilter, startSeq: Int64, capacity: Int, budget: EventBudget? = nil) {
        self.id = id
        self.filter = filter
        self.startSeq = startSeq
        self.capacity = capacity
        self.budget = budget
        state = AwaitedState(State(lastTaken: startSeq)) {
            !$0.queue.isEmpty || !$0.progress.isEmpty || $0.hasEnded
        }
    }

    deinit { budget?.give(state.withLock(\.counted) * Self.cost) }

    /// Returns the deliveries since the last call, at least one and at most `largestBatch`; nil once the subscription
    /// has ended and everything was read. For one reader at a time, which must have finished with the last batch when
    /// it calls again.
    public func next() async -> [Delivery]? {
        while true {
            let (batch, hasEnded) = removeAll()
            if !batch.isEmpty { return batch }
            if hasEnded || Task.isCancelled { return nil }
            await state.wait()
        }
    }

    /// Deliveries that wait for the reader.
    var backlog: Int { state.withLock { $0.queue.count } }

    func deliver(_ events: [Event]) {
        state.change { state in
            for event in events where !state.hasEnded && event.seq > startSeq {
                guard filter.accepts(event) else {
                    // The counters of an ended task are not needed any more.
                    if event.type.isTerminal { state.forgetProgress(of: event) }
                    continue
                }
                let begun = state.queue.count
                if event.type.isTerminal, filter.includesProgress { state.queueLastProgress(before: event) }
                state.queue.append(.event(event))
                guard begun < capacity, reserve(state.queue.count - begun, in: &state) else {
                    settle(state.counted - state.inHand, in: &state)
                    state.queue = [.overflow(lastSeq: state.lastTaken)]
                    state.progress = [:]
                    state.latest = [:]
                    state.hasEnded = true
                    return
                }
            }
        }
    }

    func deliver(_ snapshots: [ProgressSnapshot]) {
        state.change { state in
            guard !state.hasEnded else { return }
            for snapshot in snapshots where filter.accepts(snapshot) {
                state.progress[snapshot.taskID] = snapshot
                state.latest[snapshot.taskID] = snapshot
            }
        }
    }

    private func reserve(_ deliveries: Int, in state: inout State) -> Bool {
        guard budget?.reserve(deliveries * Self.cost) ?? true else { return false }
        state.counted += deliveries
        return true
    }

    private func settle(_ deliveries: Int, in state: inout State) {
        let settled = min(max(0, deliveries), state.counted)
        state.counted -= settled
        budget?.give(settled * Self.cost)
    }

    func end() {
        state.change { $0.hasEnded = true }
    }

    private func removeAll() -> (batch: [Delivery], hasEnded: Bool) {
        state.withLock { state in
            settle(state.inHand, in: &state)
            var batch = Array(state.queue.prefix(Self.largestBatch))
            for case .event(let event) in batch { state.lastTaken = event.seq }
            state.inHand = min(batch.count, state.counted)
            if batch.count < state.queue.count {
                state.queue.removeFirst(batch.count)
                return (batch, state.hasEnded)
            }
            batch += state.progress.values.sorted { $0.taskID < $1.taskID }.map(Delivery.progress)
            state.queue = []
            state.progress.removeAll(keepingCapacity: true)
            return (batch, state.hasEnded)
        }
    }
}

/// The events that a subscriber wants. A nil field accepts everything.
public struct EventFilter: Hashable, Sendable {
    public var types: Set<EventType>?
    /// Whether `task.progress` is wanted, too; it is not durable.
    public var includesProgress: Bool
    public var taskIDs: Set<TaskID>?
    /// Only events of this owner's tasks; nil, for operators, accepts all owners' events and the service's own.
    public var owner: Owner?

    public init(
        types: Set<EventType>? = nil, includesProgress: Bool = false, taskIDs: Set<TaskID>? = nil, owner: Owner? = nil
    ) {
        self.types = types
        self.includesProgress = includesProgress
        self.taskIDs = taskIDs
        self.owner = owner
    }

    public func accepts(_ event: Event) -> Bool {
        if let owner, event.owner != owner { return false }
        if let taskIDs {
            guard let taskID = event.taskID, taskIDs.contains(taskID) else { return false }
        }
        return types?.contains(event.type) ?? true
    }

    public func accepts(_ progress: ProgressSnapshot) -> Bool {
        guard includesProgress else { return false }
        if let owner, progress.owner != owner { return false }
        return taskIDs?.contains(progress.taskID) ?? true
    }
}

/// Limits the bytes that wait for event readers: one budget per connection, within one per user.
public final class EventBudget: Sendable {
    private let limit: Int
    private let whole: EventBudget?
    private let taken = NIOLockedValueBox(0)

    /// - Parameters:
    ///   - limit: bytes.
    ///   - whole: the budget this one is a part of.
    public init(limit: Int, within whole: EventBudget? = nil) {
        self.limit = limit
        self.whole = whole
    }

    /// The bytes that wait now.
    public var waiting: Int { taken.withLockedValue(\.self) }

    /// Reserves bytes; returns false and reserves none if the budget does not have them.
    func reserve(_ bytes: Int) -> Bool {
        let isThere = taken.withLockedValue { taken in
            guard taken <= limit - bytes else { return false }
            taken += bytes
            return true
        }
        guard isThere else { return false }
        guard whole?.reserve(bytes) ?? true else {
            taken.withLockedValue { $0 -= bytes }
            return false
        }
        return true
    }

    func give(_ bytes: Int) {
        guard bytes > 0 else { return }
        taken.withLockedValue { $0 -= bytes }
        whole?.give(bytes)
    }
}
