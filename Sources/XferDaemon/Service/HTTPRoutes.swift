import JSONRPC
import StrictJSON
import XferManager
import XferModel
import XferProtocol

/// The resources of the socket for `GET` beside `POST /rpc`.
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
                queries.degradation.map { .text("degraded: the database cannot be written: \($0)\n", status: 503) }
                    ?? .text("ok\n")
            },
            HTTPRoute("/events", respond: events),
            FileRoute(bytes: bytes, service: service).route,
        ]
    }

    /// Server-sent events (HTML Living Standard §9.2): `Last-Event-ID`, or `since` in the query, resumes.
    private func events(_ request: HTTPRequest, _ connection: RPCConnection) async -> HTTPAnswer {
        let query = request.query?.split(separator: "&").first { $0.hasPrefix("since=") }?.dropFirst(6)
        let wanted = request.header("Last-Event-ID") ?? query.map(String.init)
        let since = wanted.flatMap { Int64($0, radix: 10) }
        guard (wanted == nil) == (since == nil), EventsSince.sequenceNumbers.contains(since ?? 0) else {
            let range = EventsSince.sequenceNumbers
            return .text(
                "Last-Event-ID: expected a sequence number from \(range.lowerBound) to \(range.upperBound)\n",
                status: 400)
        }
        do {
            let caller = try service.caller(connection)
            let filter = EventFilter(types: nil, taskIDs: nil, caller: caller)
            guard let lease = leases.lease(for: connection) else {
                return .text("a user can have \(EventLeases.maxPerUser) event streams\n", status: 503)
            }
            let feed = try await EventFeed(hub, queries, filter: filter, since: since, lease: lease)
            return HTTPAnswer(
                contentType: "text/event-stream", headers: [("Cache-Control", "no-store")],
                body: .stream(ServerSentEvents(feed: feed)))
        } catch {
            return .text("\(error)\n", status: 500)
        }
    }
}

/// A feed as the bytes of an event stream.
private struct ServerSentEvents: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    typealias Failure = any Error

    let feed: EventFeed

    func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

    struct Iterator: AsyncIteratorProtocol {
        let feed: EventFeed
        private var hasBegun = false

        init(feed: EventFeed) { self.feed = feed }

        mutating func next() async throws -> [UInt8]? {
            if !hasBegun {
                hasBegun = true
                // Shows the client at once that it is connected.
                return Array(": xferd\n\n".utf8)
            }
            guard let messages = try await feed.next() else { return nil }
            return messages.reduce(into: []) { bytes, message in
                if let seq = message.seq { bytes += Array("id: \(seq)\n".utf8) }
                bytes += Array("event: \(message.typeName)\ndata: ".utf8)
                message.wire.write(to: &bytes)
                bytes += Array("\n\n".utf8)
            }
        }
    }
}

extension EventMessage {
    /// `task.completed` and the like.
    fileprivate var typeName: String { type.value?.wireName ?? "event" }
}
