import XferModel
import XferProtocol

/// Follows events over lost connections.
actor EventReader {
    private let connector: Connector
    private let types: [EventName]?
    private let tasks: [TaskID]?
    private var cursor: EventCursor
    private var reconnection: Reconnection
    private var stream: Stream?
    /// Thrown before the next event.
    private var loss: EventsLostError?
    private var isReading = false

    /// A connection with a subscription. Releasing it ends both.
    private struct Stream {
        let connection: DaemonConnection
        let notifications: NotificationBuffer
    }

    init(
        _ connector: Connector, _ options: TransferClient.Options, since position: EventPosition?, types: [EventName]?,
        tasks: [TaskID]?
    ) {
        self.connector = connector
        self.types = types
        self.tasks = tasks
        cursor = EventCursor(position)
        reconnection = Reconnection(limit: options.reconnectLimit)
    }

    var position: EventPosition { cursor.position }

    /// The next event. Cancelling changes nothing.
    func next() async throws -> EventMessage {
        precondition(!isReading, "one Swift task at a time iterates over events")
        isReading = true
        defer { isReading = false }
        while true {
            do {
                guard let stream else {
                    try await open()
                    continue
                }
                if let loss {
                    self.loss = nil
                    throw loss
                }
                let event = try Self.event(of: try await stream.notifications.next())
                reconnection.reset()
                guard let event else { continue }
                if event.type == .known(.overflow) {
                    // This program did not read for long. The daemon still has the durable events.
                    self.stream = nil
                } else if cursor.accept(event) {
                    return event
                }
            } catch let error where Reconnection.mayPass(error) {
                stream = nil
                try await Task.sleep(for: reconnection.delay(after: error))
            }
        }
    }

    /// Connects and subscribes, and searches for a daemon that went away since another connection.
    func begin() async throws {
        while true {
            do {
                try await open()
                return reconnection.reset()
            } catch {
                guard connector.hasReachedDaemon else { throw error }
                try await Task.sleep(for: reconnection.delay(after: error))
            }
        }
    }

    /// Connects and subscribes.
    private func open() async throws {
        let notifications = NotificationBuffer()
        let connection = try await connector.open(notifications: notifications)
        try connection.check(storeID: cursor.storeID)
        guard let entry = connection.channel.reserve() else { throw connection.channel.end ?? .connection(.closed) }
        let params = EventsSubscribe.Params(types: types, taskIDs: tasks, since: cursor.seq)
        let answer = try await connection.channel.call(
            EventsSubscribe.name, params.wire, as: entry, timeout: connector.timeout)
        do throws(WireError) {
            loss = cursor.begin(try EventsSubscribe.Result(lenient: answer), storeID: connection.storeID)
        } catch {
            throw CallError.malformedResult(method: EventsSubscribe.name, error)
        }
        stream = Stream(connection: connection, notifications: notifications)
    }

    private static func event(of notification: Notification) throws(CallError) -> EventMessage? {
        do throws(WireError) {
            return try notification.event()
        } catch {
            throw .connection(.malformedMessage(error.description))
        }
    }
}

/// The position of a client in the stream of events, over all its connections.
struct EventCursor {
    /// The last durable event that was returned to the caller; nil before the first subscription.
    private(set) var seq: Int64?
    private(set) var storeID: String?

    init(_ position: EventPosition?) {
        seq = position?.seq
        storeID = position?.storeID
    }

    var position: EventPosition { EventPosition(seq: seq ?? 0, storeID: storeID) }

    /// Applies the answer of `events.subscribe`.
    ///
    /// - Returns: an error if events after the position are no longer stored. The position 0 is never such an error: it
    ///   means the oldest stored event.
    mutating func begin(_ answer: EventsSubscribe.Result, storeID: String?) -> EventsLostError? {
        self.storeID = storeID ?? self.storeID
        let since = seq ?? answer.lastSeq
        guard answer.gap == true, let first = answer.firstSeq else {
            seq = since
            return nil
        }
        seq = max(since, first > 0 ? first - 1 : 0)
        return since > 0 ? EventsLostError(since: since, firstSeq: first) : nil
    }

    /// Records an event. Returns true if it is new.
    mutating func accept(_ event: EventMessage) -> Bool {
        guard let number = event.seq else { return true }
        guard number > seq ?? 0 else { return false }
        seq = number
        return true
    }
}
