import JSONRPC
import XferManager
import XferModel
import XferProtocol

/// Handles `events.*`: decodes, authorises, calls and encodes.
struct EventHandlers: Sendable {
    let hub: EventHub
    let queries: TaskQueries
    let subscriptions: ConnectionSubscriptions
    let leases: EventLeases

    var all: [Handler] {
        [
            Handler(EventsSubscribe.self, subscribe), subscriptions.stopHandler,
            Handler(EventsSince.self, encoding: since),
        ]
    }

    private func subscribe(
        _ params: EventsSubscribe.Params, _ context: CallContext
    ) async throws -> EventsSubscribe.Result {
        guard context.connection.canNotify else {
            throw RPCFailure(
                .invalidRequest, "events.subscribe needs the Unix socket or a WebSocket; over HTTP use GET /events",
                data: ErrorData(reason: "no_notifications"))
        }
        let filter = EventFilter(
            types: params.types?.values, taskIDs: params.taskIDs?.values, caller: context.caller)
        let lease = try leases.lease(for: context.connection, tasks: filter.taskIDs?.count ?? 0)
        let feed = try await EventFeed(hub, queries, filter: filter, since: params.since, lease: lease)
        let id = try subscriptions.start(feed, on: context.connection)
        return EventsSubscribe.Result(subscription: id, lastSeq: feed.startSeq, firstSeq: feed.gapBefore)
    }

    private func since(
        _ params: EventsSince.Params, _ context: CallContext, _ encode: (EventsSince.Result) -> [UInt8]
    ) async throws -> [UInt8] {
        let filter = EventFilter(
            types: params.types?.values, taskIDs: params.taskIDs?.values, caller: context.caller)
        switch try await queries.events(since: params.seq, filter, within: PageBounds(limit: params.limit)) {
        case .gap(let firstSeq, _):
            return encode(.gap(EventsSince.Gap(firstSeq: firstSeq)))
        case .events(let events, let reached):
            return PageText.events(events.map { EventMessage($0) }, reached: reached)
        }
    }
}
