package import JSONRPC
import StrictJSON
package import XferProtocol

/// `GET /events`: server-sent events (HTML Living Standard §9.2). `Last-Event-ID`, or `since` in the query, continues
/// an earlier stream.
package struct EventStreamRoute: Sendable {
    /// Makes the stream that was requested. Throws `limit_exceeded` if the user has too many.
    package typealias Open = @Sendable (EventsSubscribe.Params, RPCConnection) async throws -> any EventSource

    private let open: Open

    package init(open: @escaping Open) { self.open = open }

    package var route: HTTPRoute { HTTPRoute("/events", respond: respond) }

    private func respond(_ request: HTTPRequest, _ connection: RPCConnection) async -> HTTPAnswer {
        let params: EventsSubscribe.Params
        do throws(EventQueryError) {
            params = try EventsSubscribe.Params(query: request.query, lastEventID: request.header("Last-Event-ID"))
        } catch {
            return .text("\(error.description)\n", status: 400)
        }
        do {
            let feed = try await open(params, connection)
            return HTTPAnswer(
                contentType: "text/event-stream", headers: [("Cache-Control", "no-store")],
                body: .stream(ServerSentEvents(feed: feed)))
        } catch let error as RPCFailure {
            return .text("\(error.message)\n", status: error.knownCode == .limitExceeded ? 503 : 400)
        } catch {
            return .text("\(error)\n", status: 500)
        }
    }
}

/// The reason why the query of `GET /events` is refused.
package struct EventQueryError: Error, Hashable, CustomStringConvertible {
    package let description: String
}

extension EventsSubscribe.Params {
    /// Reads the query: `since`, and `types` and `task_ids` with commas between their values; each at most once.
    ///
    /// - Parameter lastEventID: the header field that a browser sends after a lost connection; it has priority over
    ///   `since`.
    package init(query: String?, lastEventID: String?) throws(EventQueryError) {
        var object = JSONObject()
        for pair in query?.split(separator: "&") ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let (name, text) = (parts[0], parts.count > 1 ? parts[1] : "")
            guard object[name] == nil else { throw EventQueryError(description: "\(name): expected once") }
            guard let value = text.removingPercentEncoding() else {
                throw EventQueryError(description: "\(name): expected UTF-8 in percent encoding")
            }
            let list = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            switch name {
            case "since": object[name] = try Self.number(value, name)
            case "types": object[name] = .array(list.map(JSONValue.string))
            case "task_ids":
                var ids: [JSONValue] = []
                for text in list { ids.append(try Self.number(text, name)) }
                object[name] = .array(ids)
            default:
                throw EventQueryError(
                    description: "there is no parameter \(name.prefix(64)), expected since, types or task_ids")
            }
        }
        if let lastEventID { object["since"] = try Self.number(lastEventID, "Last-Event-ID") }
        do throws(WireError) {
            try self.init(wire: .object(object), mode: .strict)
        } catch {
            throw EventQueryError(description: error.description)
        }
    }

    private static func number(_ text: String, _ name: String) throws(EventQueryError) -> JSONValue {
        let range = EventsSince.sequenceNumbers
        guard let number = Int64(text, radix: 10), range.contains(number) else {
            throw EventQueryError(
                description: "\(name): expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return .integer(number)
    }
}

extension String {
    /// The text without its percent encoding (RFC 3986 §2.1); nil if the encoding is invalid, or the result is not
    /// UTF-8.
    fileprivate func removingPercentEncoding() -> String? {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(utf8)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let high = Self.digit(rest.removeFirst()), let low = Self.digit(rest.removeFirst())
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
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
    /// The event's type, such as `task.completed`.
    fileprivate var typeName: String { type.value?.wireName ?? "event" }
}
