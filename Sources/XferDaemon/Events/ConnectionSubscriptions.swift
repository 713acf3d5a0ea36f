package import JSONRPC
import NIOConcurrencyHelpers
import XferModel
package import XferProtocol

/// One ordered stream of events for one reader.
package protocol EventSource: Sendable {
    /// The oldest stored event if events after the requested position were removed, else nil.
    var gapBefore: Int64? { get }
    /// The next events, at least one; nil at the stream's end, also when the reading task is cancelled.
    func next() async throws -> [EventMessage]?
}

/// The event streams of all connections. Each stream has its own `Task`, which sends as fast as the client reads.
package final class ConnectionSubscriptions: Sendable {
    private struct State {
        /// The sending tasks by connection and subscription; nil until the answer to `events.subscribe` is sent.
        var pumps: [UInt64: [Int64: Task<Void, Never>?]] = [:]
        var nextID: Int64 = 1
    }

    /// The highest number of streams of one connection.
    package static let maxPerConnection = 64

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Starts sending a feed and returns the stream's id.
    ///
    /// - Throws: `RPCFailure` if the connection has `maxPerConnection` streams.
    package func start(_ feed: some EventSource, on connection: RPCConnection) throws(RPCFailure) -> Int64 {
        let (id, isFirst) = state.withLockedValue { state -> (Int64?, Bool) in
            let isFirst = state.pumps[connection.id] == nil
            guard state.pumps[connection.id, default: [:]].count < Self.maxPerConnection else { return (nil, false) }
            let id = state.nextID
            state.nextID += 1
            state.pumps[connection.id, default: [:]][id] = .some(nil)
            return (id, isFirst)
        }
        guard let id else {
            let limit = Self.maxPerConnection
            throw RPCFailure(
                .limitExceeded, "a connection can have \(limit) subscriptions",
                data: ErrorData(reason: "limit_exceeded", limit: Int64(clamping: limit)))
        }
        // The answer that names the stream is sent before the stream's first event.
        RPCConnection.afterAnswer { [weak self] in self?.begin(feed, as: id, on: connection) }
        if isFirst { connection.onClose { [weak self] in self?.end(connection.id) } }
        return id
    }

    private func begin(_ feed: some EventSource, as id: Int64, on connection: RPCConnection) {
        state.withLockedValue { state in
            // The stream was stopped, or the connection closed, before the answer was sent.
            guard state.pumps[connection.id]?[id] != nil else { return }
            state.pumps[connection.id]?[id] = Task { [weak self] in
                await Self.pump(feed, as: id, to: connection)
                self?.forget(id, of: connection.id)
            }
        }
    }

    /// Ends a stream.
    ///
    /// - Throws: `RPCFailure` if the connection has no stream of that id.
    package func stop(_ id: Int64, of connection: RPCConnection) throws(RPCFailure) {
        guard let pump = state.withLockedValue({ $0.pumps[connection.id]?.removeValue(forKey: id) }) else {
            throw RPCFailure(
                .notFound, "this connection has no subscription \(id)",
                data: ErrorData(reason: "not_found", path: "subscription"))
        }
        pump?.cancel()
    }

    /// The handler of `events.unsubscribe`.
    package var stopHandler: Handler {
        Handler(EventsUnsubscribe.self) { [self] params, context in
            try stop(params.subscription, of: context.connection)
            return Done()
        }
    }

    private func end(_ connection: UInt64) {
        let pumps = state.withLockedValue { $0.pumps.removeValue(forKey: connection) }
        for pump in (pumps ?? [:]).values { pump?.cancel() }
    }

    private func forget(_ id: Int64, of connection: UInt64) {
        state.withLockedValue { _ = $0.pumps[connection]?.removeValue(forKey: id) }
    }

    /// Sends the feed's events until it or the connection ends. While the connection is full, it reads no events from
    /// the feed, which then falls behind and buffers none.
    private static func pump(_ feed: some EventSource, as subscription: Int64, to connection: RPCConnection) async {
        var prevSeq = feed.gapBefore.map { $0.subtractingSaturated(1) } ?? 0
        while await connection.whenWritable(), let messages = try? await feed.next() {
            for message in messages {
                var text: [UInt8] = []
                text.reserveCapacity(512)
                message.delivered(on: subscription, after: prevSeq).write(to: &text)
                guard await send(text, to: connection) else { return }
                prevSeq = message.seq ?? prevSeq
            }
        }
    }

    private static func send(_ params: [UInt8], to connection: RPCConnection) async -> Bool {
        while true {
            switch connection.notify(EventMessage.notification, encodedParams: params) {
            case .accepted, .tooLarge: return true
            case .unavailable: return false
            case .full: guard await connection.whenWritable() else { return false }
            }
        }
    }
}
