import NIOConcurrencyHelpers
public import XferModel

/// The queue of one subscriber: durable events in order, and the latest progress of each task.
///
/// If a subscriber does not read, its queue is dropped, and it reads the events that it has missed from the store,
/// which contains all of them. Only progress is lost.
public final class EventSubscription: Sendable {
    /// An item that a subscriber receives.
    public enum Delivery: Hashable, Sendable {
        case event(Event)
        case progress(ProgressSnapshot)
        /// The subscriber fell behind. The events after this number are in the store; nothing is delivered until
        /// `catchUp` or `skip`.
        case behind(after: Int64)

        /// The number of a durable event.
        var seq: Int64? { if case .event(let event) = self { event.seq } else { nil } }
    }

    private struct State {
        var queue: [Delivery] = []
        /// The number of deliveries that the reader received last and may still process.
        var inHand = 0
        /// The number of deliveries reserved in the budget.
        var counted = 0
        /// Tasks whose newest counters the reader has not got.
        var pending: Set<TaskID> = []
        /// The newest counters of each task; counters that are not pending are needed for the task's last progress at
        /// its end.
        var latest: [TaskID: ProgressSnapshot] = [:]
        /// The newest event that the reader has got. Events queued after it are discarded when it falls behind.
        var lastTaken: Int64
        /// The sequence number up to which events are not delivered.
        var floor: Int64
        /// The newest event that was not queued; nil unless the subscriber is behind.
        var newestMissed: Int64?
        /// True if the reader was notified that it is behind.
        var knowsItIsBehind = false
        var hasEnded = false
    }

    public let id: Int
    public let filter: EventFilter
    /// The newest event when the subscription began: older ones are in the store, newer ones are delivered here.
    public let startSeq: Int64
    private let capacity: Int
    private let budget: EventBudget?
    private let state: AwaitedState<State>

    /// The highest number of deliveries returned at once: the reader keeps them until its client has received them.
    static let largestBatch = 32
    /// The estimated memory of one delivery in bytes. The texts of an event are shared by all subscribers.
    static let cost = MemoryLayout<Delivery>.stride + 128
    /// The estimated memory of a task's newest counters.
    static let progressCost = 2 * (MemoryLayout<ProgressSnapshot>.stride + MemoryLayout<TaskID>.stride)

    /// - Parameter position: the subscriber begins behind: it has the events up to this number.
    init(
        id: Int, filter: EventFilter, startSeq: Int64, capacity: Int, budget: EventBudget? = nil,
        behind position: Int64? = nil
    ) {
        self.id = id
        self.filter = filter
        self.startSeq = startSeq
        self.capacity = capacity
        self.budget = budget
        var first = State(lastTaken: position ?? startSeq, floor: startSeq)
        if position != nil {
            first.newestMissed = startSeq
            first.knowsItIsBehind = true
        }
        state = AwaitedState(first) { state in
            if state.hasEnded { return true }
            if state.newestMissed != nil { return !state.knowsItIsBehind }
            return !state.queue.isEmpty || !state.pending.isEmpty
        }
    }

    deinit {
        let (counted, tasks) = state.withLock { ($0.counted, $0.latest.count) }
        budget?.give(counted * Self.cost + tasks * Self.progressCost)
    }

    /// Returns the deliveries since the last call, at least one and at most `largestBatch` events; nil once the
    /// subscription has ended and everything was read. For one reader at a time, which must have finished with the last
    /// batch when it calls again.
    public func next() async -> [Delivery]? {
        while true {
            let (batch, hasEnded) = removeAll()
            if !batch.isEmpty { return batch }
            if hasEnded || Task.isCancelled { return nil }
            await state.wait()
        }
    }

    /// Records that the reader has read all events up to this number from the store. Returns true if it has caught up:
    /// later events are delivered. False: the store has newer ones.
    public func catchUp(to seq: Int64) -> Bool {
        state.withLock { state in
            guard let missed = state.newestMissed else { return true }
            state.lastTaken = max(state.lastTaken, seq)
            guard missed <= seq else { return false }
            state.floor = max(state.floor, seq)
            state.newestMissed = nil
            state.knowsItIsBehind = false
            return true
        }
    }

    /// Skips the events that were missed, if there are some: for readers to whom only the present matters.
    public func skip() {
        state.withLock { state in
            guard let missed = state.newestMissed else { return }
            state.floor = max(state.floor, missed)
            state.newestMissed = nil
            state.knowsItIsBehind = false
        }
    }

    /// The number of deliveries that wait for the reader.
    var backlog: Int { state.withLock { $0.queue.count } }

    func deliver(_ events: [Event]) {
        state.change { state in
            for event in events where !state.hasEnded && event.seq > state.floor {
                guard filter.accepts(event) else {
                    // The counters of an ended task are not needed any more.
                    if event.type.isTerminal { forgetProgress(of: event, in: &state) }
                    continue
                }
                if state.newestMissed != nil {
                    state.newestMissed = event.seq
                    if event.type.isTerminal { forgetProgress(of: event, in: &state) }
                    continue
                }
                let begun = state.queue.count
                if event.type.isTerminal, filter.includesProgress { queueLastProgress(before: event, in: &state) }
                state.queue.append(.event(event))
                guard begun < capacity, reserve(state.queue.count - begun, in: &state) else {
                    settle(state.counted - state.inHand, in: &state)
                    // The filter accepts no event between the last one that was read and the first in the queue: the
                    // store need not have them any more.
                    let first = state.queue.lazy.compactMap(\.seq).first ?? event.seq
                    state.lastTaken = max(state.lastTaken, first.subtractingSaturated(1))
                    state.queue = []
                    budget?.give(state.latest.count * Self.progressCost)
                    state.pending = []
                    state.latest = [:]
                    state.newestMissed = event.seq
                    continue
                }
            }
        }
    }

    func deliver(_ snapshots: [ProgressSnapshot]) {
        state.change { state in
            guard !state.hasEnded else { return }
            for snapshot in snapshots where filter.accepts(snapshot) {
                // Without room the counters of further tasks are dropped.
                guard state.latest[snapshot.taskID] != nil || budget?.reserve(Self.progressCost) ?? true else {
                    continue
                }
                state.latest[snapshot.taskID] = snapshot
                state.pending.insert(snapshot.taskID)
            }
        }
    }

    /// Drops the pending and the newest counters of the event's task.
    private func forgetProgress(of event: Event, in state: inout State) {
        guard let taskID = event.taskID else { return }
        state.pending.remove(taskID)
        if state.latest.removeValue(forKey: taskID) != nil { budget?.give(Self.progressCost) }
    }

    /// Queues a task's last progress before its terminal event; it shows 100 % if the task completed.
    private func queueLastProgress(before event: Event, in state: inout State) {
        guard let taskID = event.taskID else { return }
        var last = state.latest[taskID]
        forgetProgress(of: event, in: &state)
        if case .taskCompleted(_, let size, _, _, _) = event.payload, let owner = event.owner {
            last =
                last
                ?? ProgressSnapshot(
                    taskID: taskID, owner: owner, phase: .publishing, received: size, total: size, rate: 0)
            if last?.kind == .upload { last?.sent = size } else { last?.received = size }
            last?.total = size
        }
        if let last { state.queue.append(.progress(last)) }
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
            state.inHand = 0
            if state.newestMissed != nil {
                guard !state.knowsItIsBehind else { return ([], state.hasEnded) }
                state.knowsItIsBehind = true
                return ([.behind(after: state.lastTaken)], state.hasEnded)
            }
            var batch = Array(state.queue.prefix(Self.largestBatch))
            for case .event(let event) in batch { state.lastTaken = event.seq }
            state.inHand = min(batch.count, state.counted)
            if batch.count < state.queue.count {
                state.queue.removeFirst(batch.count)
                return (batch, state.hasEnded)
            }
            batch += state.pending.sorted().compactMap { state.latest[$0].map(Delivery.progress) }
            state.queue = []
            state.pending.removeAll(keepingCapacity: true)
            return (batch, state.hasEnded)
        }
    }
}

/// The events that a subscriber wants. A nil field accepts everything.
public struct EventFilter: Hashable, Sendable {
    public var types: Set<EventType>?
    /// True to include `task.progress`, which is not durable.
    public var includesProgress: Bool
    public var taskIDs: Set<TaskID>?
    /// The owner whose tasks' events are delivered; nil, for operators, delivers all owners' events and the service's
    /// own.
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
