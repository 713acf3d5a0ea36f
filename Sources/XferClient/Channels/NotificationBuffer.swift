import NIOConcurrencyHelpers
import NIOCore

/// Notifications between the event loop and the Swift task that reads them. While it is full, the socket is not read.
final class NotificationBuffer: Sendable {
    /// Reading stops at `upper` notifications and continues below `lower`. One read of the socket may exceed `upper`.
    private static let (lower, upper) = (64, 256)

    private struct State {
        var notifications = NotificationQueue()
        var end: ConnectionError?
        var isReading = true
        var channel: (any Channel)?
        /// Completed when there is something to read.
        var change: Arrival<Void>?
    }

    private let state = NIOLockedValueBox(State())

    /// True if the socket is read.
    var isReading: Bool { state.withLockedValue(\.isReading) }

    /// The channel that the notifications come from.
    func attach(to channel: any Channel) { state.withLockedValue { $0.channel = channel } }

    func append(_ notification: Notification) {
        let (change, stopped) = state.withLockedValue { state -> (Arrival<Void>?, (any Channel)?) in
            state.notifications.append(notification)
            let isFull = state.isReading && state.notifications.count >= Self.upper
            if isFull { state.isReading = false }
            defer { state.change = nil }
            return (state.change, isFull ? state.channel : nil)
        }
        change?.complete(.success(()))
        stopped?.setOption(.autoRead, value: false).whenFailure { _ in }
    }

    /// Ends the stream. Notifications in the buffer can still be read.
    func end(_ error: ConnectionError) {
        let change = state.withLockedValue { state in
            if state.end == nil { state.end = error }
            state.channel = nil
            defer { state.change = nil }
            return state.change
        }
        change?.complete(.success(()))
    }

    /// Removes the oldest notification, and waits for one if there is none.
    ///
    /// - Throws: `CallError.connection` after the last one, `CancellationError`; then nothing has been removed.
    func next() async throws -> Notification {
        while true {
            let (step, continued) = try state.withLockedValue { state -> (Step, (any Channel)?) in
                if !state.notifications.isEmpty {
                    let first = state.notifications.removeFirst()
                    let hasRoom = !state.isReading && state.notifications.count < Self.lower
                    if hasRoom { state.isReading = true }
                    return (.notification(first), hasRoom ? state.channel : nil)
                }
                if let end = state.end { throw CallError.connection(end) }
                let change = state.change ?? Arrival<Void>()
                state.change = change
                return (.wait(change), nil)
            }
            continued?.setOption(.autoRead, value: true).whenFailure { _ in }
            switch step {
            case .notification(let notification): return notification
            case .wait(let change): try await change.value
            }
        }
    }

    private enum Step {
        case notification(Notification)
        case wait(Arrival<Void>)
    }
}
