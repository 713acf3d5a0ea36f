import JSONRPC
import XferCore
import XferDaemon
import XferModel
import XferProtocol

/// `events.*` of the fleet: its own numbers, without a gap.
extension FleetFace {
    var eventHandlers: [Handler] {
        [
            Handler(
                EventsSince.self,
                encoding: { params, context, encode in
                    let filter = filter(params.types?.values, params.taskIDs?.values, FleetCaller(context.caller))
                    let page = try await attempt { () throws(FleetError) in
                        try await database.events.list(
                            since: params.seq, limit: min(params.limit, FleetEventPage.limit), filter: filter)
                    }
                    if page.oldest > params.seq.addingSaturated(1), params.seq > 0 {
                        return encode(.gap(EventsSince.Gap(firstSeq: page.oldest)))
                    }
                    let messages = page.events.map { records.message($0) }
                        .filter { FleetRecords.isWanted($0, params.types?.values) }
                    return PageText.events(messages, reached: page.next)
                }),
            Handler(EventsSubscribe.self) { params, context in try await subscribe(params, context) },
            subscriptions.stopHandler,
        ]
    }

    private func filter(_ types: [EventName]?, _ tasks: [TaskID]?, _ caller: FleetCaller) -> FleetEventFilter {
        var filter = FleetEventFilter()
        filter.owner = caller.visibleOwner
        filter.kinds = FleetRecords.kinds(types)
        filter.tasks = tasks.map { $0.map { FleetTaskID($0.rawValue) }.distinctSet() }
        return filter
    }

    private func subscribe(
        _ params: EventsSubscribe.Params, _ context: CallContext
    ) async throws -> EventsSubscribe.Result {
        guard context.connection.canNotify else {
            throw RPCFailure(
                .invalidRequest, "events.subscribe needs the Unix socket or a WebSocket",
                data: ErrorData(reason: "no_notifications"))
        }
        let filter = filter(params.types?.values, params.taskIDs?.values, FleetCaller(context.caller))
        let lease = try eventLeases.lease(for: context.connection, tasks: filter.tasks?.count ?? 0)
        let (feed, newest) = try await feed(filter, types: params.types?.values, since: params.since, lease)
        let id = try subscriptions.start(feed, on: context.connection)
        return EventsSubscribe.Result(subscription: id, lastSeq: newest, firstSeq: feed.gapBefore)
    }
}

extension FleetFace {
    /// Returns the events as server-sent events.
    ///
    /// - Throws: `limit_exceeded` if the user has too many streams.
    func stream(
        _ params: EventsSubscribe.Params, on connection: RPCConnection, for caller: Caller
    ) async throws -> any EventSource {
        let types = params.types?.values
        let filter = filter(types, params.taskIDs?.values, FleetCaller(caller))
        let lease = try eventLeases.lease(for: connection, tasks: filter.tasks?.count ?? 0)
        return try await feed(filter, types: types, since: params.since, lease).feed
    }

    /// The events after `since`, or from now on, and the number of the newest one.
    private func feed(
        _ filter: FleetEventFilter, types: [EventName]?, since: Int64?, _ lease: EventLease
    ) async throws -> (feed: FleetFeed, newest: Int64) {
        let newest = try await attempt { () throws(FleetError) in try await database.events.newest() }
        if let since, since > newest { throw RPCFailure.beyondTheLog(newest: newest) }
        let start = since ?? newest
        let page = try await attempt { () throws(FleetError) in
            try await database.events.list(since: start, limit: 1, filter: filter)
        }
        let gap = start > 0 && page.oldest > start.addingSaturated(1) ? page.oldest : nil
        let feed = FleetFeed(
            self, filter, types: types, since: gap.map { $0 - 1 } ?? start, gapBefore: gap, lease: lease)
        return (feed, newest)
    }
}

/// A client's stream of the fleet's events. It reads the table once an interval, sooner when something changes here.
actor FleetFeed: EventSource {
    private let face: FleetFace
    private let filter: FleetEventFilter
    private let types: [EventName]?
    /// The stream's place among those of its user, which ends with the feed.
    private let lease: EventLease
    private let wakeSignal = WakeSignal()
    private var cursor: Int64
    nonisolated let gapBefore: Int64?

    init(
        _ face: FleetFace, _ filter: FleetEventFilter, types: [EventName]?, since: Int64, gapBefore: Int64?,
        lease: EventLease
    ) {
        self.face = face
        self.filter = filter
        self.types = types.map { Array($0.distinctSet()) }
        self.gapBefore = gapBefore
        self.lease = lease
        cursor = since
        face.changes.add(wakeSignal)
    }

    deinit { face.changes.remove(wakeSignal) }

    /// Returns the next events. It waits while the database cannot be reached, so that no event is missed.
    func next() async throws -> [EventMessage]? {
        while !Task.isCancelled {
            do {
                let page = try await face.database.events.list(since: cursor, limit: 200, filter: filter)
                let isBehind = page.next < page.newest
                cursor = max(cursor, page.next)
                let messages = page.events.map { face.records.message($0) }
                    .filter { FleetRecords.isWanted($0, types) }
                if !messages.isEmpty { return messages }
                if isBehind { continue }
            } catch {}
            await wakeSignal.wait(atMost: face.configuration.interval)
        }
        return nil
    }
}
