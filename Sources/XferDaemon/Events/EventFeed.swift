import XferManager
import XferModel
import XferProtocol
import XferSystem

/// One ordered stream of events for one reader: first the stored events after `since`, then new ones. A reader that is
/// too slow for new events gets them from the store, too, until it has caught up.
///
/// The subscription begins before the replay, so that no event is lost between the two.
actor EventFeed: EventSource {
    private let hub: EventHub
    private let queries: TaskQueries
    private let filter: EventFilter
    private let subscription: EventSubscription
    private let lease: EventLease
    /// The last event that was read from the store; nil while events come from the subscription.
    private var position: Int64?
    private var hasEnded = false

    /// The oldest stored event if events after `since` were removed, else nil.
    nonisolated let gapBefore: Int64?
    /// The newest event when the feed began.
    nonisolated var startSeq: Int64 { subscription.startSeq }

    /// The bounds of one read from the store: all its events are in memory until the client has received them.
    private static var page: PageBounds { PageBounds(limit: 32, bytes: 64 << 10) }

    init(_ hub: EventHub, _ queries: TaskQueries, filter: EventFilter, since: Int64?, lease: EventLease) async throws {
        self.hub = hub
        self.queries = queries
        self.filter = filter
        self.lease = lease
        guard let since else {
            gapBefore = nil
            subscription = hub.subscribe(filter, within: lease.budget)
            return
        }
        let start: Int64
        switch try await queries.events(since: since, filter, within: PageBounds(limit: 1, scan: 1)) {
        case .events(_, let reached):
            guard reached >= since else { throw RPCFailure.beyondTheLog(newest: reached) }
            gapBefore = nil
            start = since
        case .gap(let firstSeq, _):
            gapBefore = firstSeq
            start = firstSeq.subtractingSaturated(1)
        }
        position = start
        subscription = hub.subscribe(filter, within: lease.budget, behind: start)
    }

    deinit { hub.unsubscribe(subscription) }

    /// The next events, at least one; nil at the end, or when the reading task is cancelled.
    func next() async throws -> [EventMessage]? {
        while !hasEnded, !Task.isCancelled {
            if let position {
                if let messages = try await stored(after: position) { return messages }
                continue
            }
            guard let deliveries = await subscription.next() else { return nil }
            var messages: [EventMessage] = []
            for delivery in deliveries {
                switch delivery {
                case .event(let event): messages.append(EventMessage(event))
                case .progress(let snapshot): messages.append(EventMessage(snapshot, at: Clocks.wall()))
                case .behind(let seq): position = seq
                }
            }
            if !messages.isEmpty { return messages }
        }
        return nil
    }

    /// The next stored events. Nil if this page has none, or if the subscription delivers the next ones.
    private func stored(after seq: Int64) async throws -> [EventMessage]? {
        let page = try await hub.inTurn(of: lease.owner) { @Sendable [queries, filter] in
            try await queries.events(since: seq, filter, within: Self.page)
        }
        switch page {
        case .events(let events, let reached):
            position = reached
            if !events.isEmpty { return events.map { EventMessage($0) } }
            if subscription.catchUp(to: reached) { position = nil }
            return nil
        case .gap(_, let lastSeq):
            // The reader was so slow that what it has missed is not kept any more.
            hasEnded = true
            return [EventMessage(overflowAfter: min(seq, lastSeq), at: Clocks.wall())]
        }
    }
}

extension EventFilter {
    /// The filter of a client's request; without types everything, progress included.
    init(types: [EventName]?, taskIDs: [TaskID]?, caller: Caller) {
        var durable: Set<EventType>?
        var includesProgress = true
        if let types {
            durable = types.compactMap { if case .durable(let type) = $0 { type } else { nil } }.distinctSet()
            includesProgress = types.contains(.progress)
        }
        self.init(
            types: durable, includesProgress: includesProgress, taskIDs: taskIDs.map { $0.distinctSet() },
            owner: caller.principal.visibleOwner)
    }
}
