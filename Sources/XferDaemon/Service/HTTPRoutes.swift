import JSONRPC
import XferManager
import XferModel
import XferProtocol

/// The resources of the socket for `GET`, in addition to `POST /rpc`.
struct HTTPRoutes: Sendable {
    let hub: EventHub
    let queries: TaskQueries
    let service: DaemonService
    let metrics: MetricsPage
    let leases: EventLeases
    let bytes: ByteReader

    var all: [HTTPRoute] {
        [
            HTTPRoute("/openrpc.json") { _, _ in
                HTTPAnswer(contentType: "application/json", body: .bytes(Array(OpenRPCDocument.text.utf8)))
            },
            HTTPRoute("/metrics") { _, connection in
                HTTPAnswer(
                    contentType: PrometheusRegistry.contentType,
                    body: .bytes(Array(await metrics.text(for: connection).utf8)))
            },
            HTTPRoute("/healthz") { _, _ in
                queries.degradation.map { .text("degraded: \($0)\n", status: 503) } ?? .text("ok\n")
            },
            EventStreamRoute(open: events).route,
            FileRoute(bytes: bytes, service: service).route,
        ]
    }

    /// The source of the events.
    ///
    /// - Throws: `limit_exceeded` if the user has too many streams.
    private func events(
        _ params: EventsSubscribe.Params, _ connection: RPCConnection
    ) async throws -> any EventSource {
        let filter = EventFilter(
            types: params.types?.values, taskIDs: params.taskIDs?.values, caller: try service.caller(connection))
        let lease = try leases.lease(for: connection, tasks: filter.taskIDs?.count ?? 0)
        return try await EventFeed(hub, queries, filter: filter, since: params.since, lease: lease)
    }
}
