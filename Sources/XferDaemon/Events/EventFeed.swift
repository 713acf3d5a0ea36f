import XferManager
import XferModel
import XferProtocol
import XferSystem

/// One ordered stream of events for one reader: first the stored events after `since`, then new ones.
///
/// The subscription begins before the replay, so that no event is lost between the two.
actor EventFeed: EventSource {
    private let hub: EventHub
    private let queries: TaskQueries
    private let filter: EventFilter
    private let subscription: EventSubscription
    private let lease: EventLease
    /// The last event of the replay read so far; nil once the replay is over.
    private var replayed: Int64?

    /// Set when events after `since` were removed: the oldest one that is kept.
    nonisolated let gapBefore: Int64?
    /// The newest event when the feed began.
    nonisolated var startSeq: Int64 { subscription.startSeq }

    /// Events that one feed reads from the store at once: all of them are in memory until its client has taken them.
    private static var pageSize: Int { 200 }

    init(_ hub: EventHub, _ queries: TaskQueries, filter: EventFilter, since: Int64?, lease: EventLease) async throws {
        self.hub = hub
        self.queries = queries
        self.filter = filter
        self.lease = lease
        subscription = hub.subscribe(filter, within: lease.budget)
        guard let since else {
            gapBefore = nil
            return
        }
        do {
            switch try await queries.events(since: since, filter, limit: 1) {
            case .events:
                gapBefore = nil
                replayed = since
            case .gap(let firstSeq, _):
                gapBefore = firstSeq
                replayed = firstSeq.subtractingSaturated(1)
            }
        } catch {
            hub.unsubscribe(subscription)
            throw error
        }
    }

    deinit { hub.unsubscribe(subscription) }

    /// The next events, at least one; nil after an overflow or when the reading task is cancelled.
    func next() async throws -> [EventMessage]? {
        if let events = try await nextReplayed() { return events }
        guard let deliveries = await subscription.next() else { return nil }
        return deliveries.map { delivery in
            switch delivery {
            case .event(let event): EventMessage(event)
            case .progress(let snapshot): EventMessage(snapshot, at: Clocks.wall())
            case .overflow(let lastSeq): EventMessage(overflowAfter: lastSeq, at: Clocks.wall())
            }
        }
    }

    private func nextReplayed() async throws -> [EventMessage]? {
        guard let since = replayed else { return nil }
        let last = subscription.startSeq
        guard since < last,
            case .events(let page, _) = try await queries.events(since: since, filter, limit: Self.pageSize)
        else {
            replayed = nil
            return nil
        }
        let due = page.filter { $0.seq <= last }
        replayed = due.count == Self.pageSize ? due.last?.seq : nil
        return due.isEmpty ? nil : due.map { EventMessage($0) }
    }
}

extension EventFilter {
    /// The filter of a client's request; without types everything, progress included.
    init(types: [EventName]?, taskIDs: [TaskID]?, caller: Caller) {
        var durable: Set<EventType>?
        var includesProgress = true
        if let types {
            durable = Set(types.compactMap { if case .durable(let type) = $0 { type } else { nil } })
            includesProgress = types.contains(.progress)
        }
        self.init(
            types: durable, includesProgress: includesProgress, taskIDs: taskIDs.map { Set($0) },
            owner: caller.principal.visibleOwner)
    }
}
