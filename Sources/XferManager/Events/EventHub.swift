import NIOConcurrencyHelpers
public import XferModel

/// Delivers committed events and progress to the subscribers.
///
/// The store calls `publish` after each commit, in commit order, so a subscriber sees one ordered stream without gaps.
/// A slow subscriber delays no other: its progress is coalesced, and beyond `capacity` durable events, or its budget,
/// it falls behind and reads from the store.
public final class EventHub: Sendable {
    private struct State {
        var lastSeq: Int64
        var subscriptions: [Int: EventSubscription] = [:]
        var followers: [Int: ChangedTasks] = [:]
        var nextID = 1
        var refusesFollowers = false
    }

    private let state: NIOLockedValueBox<State>
    /// The highest number of durable events that may wait for one subscriber.
    private let capacity: Int
    private let replays = AsyncLock()

    public init(capacity: Int = 256) {
        state = NIOLockedValueBox(State(lastSeq: 0))
        self.capacity = capacity
    }

    /// Sets the store's last sequence number, before the first event is published.
    public func begin(after lastSeq: Int64) {
        state.withLockedValue { $0.lastSeq = max($0.lastSeq, lastSeq) }
    }

    /// Runs a read of the log for a stream when it is the user's turn and no other stream reads: hundreds of streams
    /// that replay the log at the same time delay no other call.
    public func inTurn<Value>(of owner: Owner, _ body: () async throws -> Value) async rethrows -> Value {
        await replays.enter(for: owner)
        defer { replays.leave() }
        return try await body()
    }

    /// The newest published event's sequence number.
    public var lastSeq: Int64 { state.withLockedValue(\.lastSeq) }

    /// True if a subscriber wants `task.progress`.
    var hasProgressSubscribers: Bool {
        state.withLockedValue { $0.subscriptions.values.contains { $0.filter.includesProgress } }
    }

    /// The subscriptions, and the events that wait for the one with the most.
    var readers: (count: Int, backlog: Int) {
        let all = state.withLockedValue { Array($0.subscriptions.values) }
        return (all.count, all.map(\.backlog).max() ?? 0)
    }

    /// The number of callers that follow tasks.
    var followers: Int { state.withLockedValue(\.followers.count) }

    /// Starts a subscription: until it ends, every event after its `startSeq` that its filter selects reaches it once.
    ///
    /// - Parameters:
    ///   - budget: limits the pending events; when it is exhausted, the subscriber falls behind.
    ///   - position: the subscriber begins behind: it reads the events after this number from the store first.
    public func subscribe(
        _ filter: EventFilter, within budget: EventBudget? = nil, behind position: Int64? = nil
    ) -> EventSubscription {
        state.withLockedValue { state in
            let subscription = EventSubscription(
                id: state.nextID, filter: filter, startSeq: state.lastSeq, capacity: capacity, budget: budget,
                behind: position)
            state.subscriptions[state.nextID] = subscription
            state.nextID += 1
            return subscription
        }
    }

    public func unsubscribe(_ subscription: EventSubscription) {
        state.withLockedValue { $0.subscriptions[subscription.id] = nil }
        subscription.end()
    }

    /// Follows tasks until `unfollow`: every later event of these types is reported.
    func follow(_ tasks: Set<TaskID>, types: Set<EventType>?) -> ChangedTasks {
        state.withLockedValue { state in
            let changed = ChangedTasks(id: state.nextID, tasks, types: types)
            state.followers[state.nextID] = changed
            state.nextID += 1
            if state.refusesFollowers { changed.end() }
            return changed
        }
    }

    /// True if `endFollowers` was called.
    var refusesFollowers: Bool { state.withLockedValue(\.refusesFollowers) }

    /// Ends the callers' waits, now and later: the service stops.
    func endFollowers() {
        let followers = state.withLockedValue { state in
            state.refusesFollowers = true
            return Array(state.followers.values)
        }
        for follower in followers { follower.end() }
    }

    func unfollow(_ tasks: ChangedTasks) {
        state.withLockedValue { $0.followers[tasks.id] = nil }
        tasks.end()
    }

    /// Delivers durable events to the subscribers.
    ///
    /// - Parameter events: ascending by sequence number.
    public func publish(_ events: [Event]) {
        let (receivers, followers) = state.withLockedValue { state in
            state.lastSeq = events.last?.seq ?? state.lastSeq
            return (Array(state.subscriptions.values), Array(state.followers.values))
        }
        var tasks = ByTask(events, \.taskID)
        for receiver in receivers { receiver.deliver(tasks.elements(of: receiver.filter.taskIDs)) }
        for follower in followers { follower.deliver(tasks.elements(of: follower.followed)) }
    }

    /// Offers the latest counters. They replace counters that a subscriber has not read yet.
    func publish(_ progress: [ProgressSnapshot]) {
        let receivers = state.withLockedValue { Array($0.subscriptions.values) }
        var tasks = ByTask(progress, \.taskID)
        for receiver in receivers where receiver.filter.includesProgress {
            receiver.deliver(tasks.elements(of: receiver.filter.taskIDs))
        }
    }
}

/// Indexes elements by task, so that a thousand subscribers of one task each do not need a million comparisons.
private struct ByTask<Element> {
    private let all: [Element]
    private let task: (Element) -> TaskID?
    /// An index that is built when it is first needed.
    private lazy var indices = Dictionary(grouping: all.indices, by: { task(all[$0]) })

    init(_ all: [Element], _ task: @escaping (Element) -> TaskID?) {
        self.all = all
        self.task = task
    }

    /// The elements that may concern a subscriber to these tasks, or to all (nil), in order. Its filter still has to be
    /// applied.
    mutating func elements(of wanted: Set<TaskID>?) -> [Element] {
        // For a few elements a scan is faster.
        guard let wanted, all.count > 8, wanted.count < all.count else { return all }
        let indices = indices
        return wanted.flatMap { indices[$0] ?? [] }.sorted().map { all[$0] }
    }
}
