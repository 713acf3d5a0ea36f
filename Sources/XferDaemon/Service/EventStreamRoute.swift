package import JSONRPC
import StrictJSON
import XferProtocol

/// `GET /events`: server-sent events (HTML Living Standard §9.2); `Last-Event-ID`, or `since` in the query, resumes.
package struct EventStreamRoute: Sendable {
    /// Makes the stream after an event, or from now on; nil if the user has too many.
    package typealias Open = @Sendable (_ since: Int64?, RPCConnection) async throws -> (any EventSource)?

    private let open: Open

    package init(open: @escaping Open) { self.open = open }

    package var route: HTTPRoute { HTTPRoute("/events", respond: respond) }

    private func respond(_ request: HTTPRequest, _ connection: RPCConnection) async -> HTTPAnswer {
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
            guard let feed = try await open(since, connection) else {
                return .text("a user can have \(EventLeases.maxPerUser) event streams\n", status: 503)
            }
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

    let feed: any EventSource

    func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

    struct Iterator: AsyncIteratorProtocol {
        let feed: any EventSource
        private var hasBegun = false

        init(feed: any EventSource) { self.feed = feed }

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
