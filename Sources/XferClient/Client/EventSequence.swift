public import XferModel
public import XferProtocol

/// Events as they happen. One Swift task at a time iterates over them.
///
/// The events use a connection of their own. If it is lost, it is made again, and no durable event is missed or
/// delivered twice. Progress is not durable. At most some hundreds of events are in memory: while this program does not
/// iterate, the socket is not read, and the daemon keeps the durable events.
///
/// Iterating throws
/// * `EventsLostError` if events are no longer stored. Iterating again continues with the oldest one that is;
/// * `StoreChangedError` if the daemon came back with another database;
/// * `NoDaemonError` or `CallError.connection` if the daemon stays away for longer than `Options.reconnectLimit`.
///   Iterating again connects again;
/// * `CancellationError` if the Swift task is cancelled. Another one can continue without a gap.
///
/// The events have no end. Releasing the sequence ends the connection.
public struct EventSequence: AsyncSequence, Sendable {
    public typealias Element = EventMessage

    let reader: EventReader

    /// The position after the last event of the iteration: pass it as `since` to continue there.
    public var position: EventPosition { get async { await reader.position } }

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    public struct Iterator: AsyncIteratorProtocol {
        let reader: EventReader

        public mutating func next() async throws -> EventMessage? { try await reader.next() }
    }
}

extension TransferClient {
    /// Subscribes to events. When this returns, no event is missed any more.
    ///
    /// - Parameters:
    ///   - position: the stored events after it come first; nil begins with new events.
    ///   - types: types of events; nil is all, `task.progress` included.
    ///   - tasks: only events about these tasks, at most 10,000.
    /// - Throws: the errors of a call; `StoreChangedError` if the daemon has another database than `position`.
    public func events(
        since position: EventPosition? = nil, types: [EventName]? = nil, tasks: [TaskID]? = nil
    ) async throws -> EventSequence {
        let reader = EventReader(connector, options, since: position, types: types, tasks: tasks)
        try await reader.begin()
        return EventSequence(reader: reader)
    }
}

/// A position in the daemon's stream of events. A program stores it to continue there after a restart.
public struct EventPosition: Hashable, Sendable, Codable {
    /// The sequence number of the last durable event before the place; 0 is before the first.
    public var seq: Int64
    /// The database that the number belongs to; nil accepts any.
    public var storeID: String?

    /// - Parameter seq: 0…2^53.
    public init(seq: Int64, storeID: String? = nil) {
        self.seq = seq
        self.storeID = storeID
    }

    /// The position before the oldest stored event.
    public static let oldest = EventPosition(seq: 0)
}
