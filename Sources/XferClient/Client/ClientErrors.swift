public import XferModel
public import XferProtocol

/// A task that was waited for did not complete.
public enum TaskError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It has failed; its `error` is the reason.
    case failed(TaskRecord)
    /// It was cancelled, or another task replaced it in its slot.
    case cancelled(TaskRecord)
    /// There is no such task, or it was removed.
    case missing(TaskID)
    /// The task has not ended in time. It continues in the daemon.
    case timedOut(TaskID)

    public var description: String {
        switch self {
        case .failed(let task):
            "task \(task.id) has failed: \(task.error?.message ?? "no reason is known")"
                + (task.error.map { " (\($0.reason))" } ?? "")
        case .cancelled(let task): "task \(task.id) was cancelled"
        case .missing(let id): "there is no task \(id), or it was removed"
        case .timedOut(let id): "task \(id) has not ended in time; it continues in the daemon"
        }
    }
}

/// The daemon has another database: ids and sequence numbers have started from the beginning.
public struct StoreChangedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The database that the task or the position belongs to.
    public let expected: String
    /// The database that the daemon has now.
    public let found: String

    public var description: String {
        "the daemon has another database (\(found) instead of \(expected)): ids and sequence numbers of the old one mean "
            + "nothing there"
    }
}

/// Events after a position are no longer kept.
public struct EventsLostError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sequence number after which events were requested.
    public let since: Int64
    /// The oldest event that is kept. Iterating again begins with it.
    public let firstSeq: Int64

    public var description: String {
        "events after \(since) are no longer kept; the oldest that is kept is \(firstSeq)"
    }
}

/// A response is longer than the caller accepts.
public struct ResultTooLongError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The length of the response in bytes.
    public let length: Int64
    /// The highest number of bytes that the caller accepts.
    public let limit: Int

    public var description: String { "the response has \(length) bytes, expected at most \(limit)" }
}

/// The client was closed with `TransferClient.close`.
public struct ClientClosedError: Error, Hashable, Sendable, CustomStringConvertible {
    public init() {}
    public var description: String { "the client is closed" }
}
