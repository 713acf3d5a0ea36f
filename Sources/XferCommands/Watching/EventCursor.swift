import StrictJSON
import XferModel
import XferProtocol

/// A subscription to events that continues at its position, across restarts of the daemon and overflows.
struct EventCursor {
    let types: [EventName]
    /// The tasks of events; nil is all events.
    let tasks: [TaskID]?
    /// The number of the last event that was processed. The next subscription begins after it; nil begins with new
    /// events.
    private(set) var last: Int64?

    init(types: [EventName], tasks: [TaskID]?, since: Int64?) {
        self.types = types
        self.tasks = tasks
        last = since
    }

    /// True if the event has not been processed yet. Events without a number always are new.
    func isNew(_ event: EventMessage) -> Bool {
        guard let seq = event.seq, let last else { return true }
        return seq > last
    }

    /// Advances past an event that has been processed.
    mutating func advance(past event: EventMessage) { last = event.seq ?? last }

    /// Resets the position: the numbers are of another database.
    mutating func restart() { last = nil }

    /// Subscribes. Afterwards `last` is the number after which the next subscription has to begin, so that no event is
    /// missed.
    mutating func subscribe(_ daemon: DaemonSession) throws(CommandFailure) {
        let params = EventsSubscribe.Params(types: types, taskIDs: tasks, since: last)
        let result = try daemon.call(EventsSubscribe.self, params).value
        if let first = result.firstSeq { Self.reportGap(first) }
        last = last ?? result.lastSeq
    }

    /// Subscribes again after the daemon dropped events because they were read too slowly: the delivered ones end with
    /// `overflow`.
    mutating func resubscribe(after overflow: EventMessage, _ daemon: DaemonSession) throws(CommandFailure) {
        last = overflow.body["last_seq"]?.integerValue ?? last
        try subscribe(daemon)
    }

    /// Connects again and calls `resume` with the new session, until that succeeds or the daemon stayed away too long.
    static func recover(
        _ session: inout LiveSession, _ resume: (DaemonSession) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        Output.error.line("xferctl: the daemon is gone; reconnecting")
        let end = Readiness.now + LiveSession.patience
        while true {
            if try session.reconnect(until: end) != nil { throw CommandFailure(.interrupted) }
            do throws(CommandFailure) {
                return try resume(session.daemon)
            } catch {
                guard error.status == .noDaemon else { throw error }
            }
        }
    }

    static func reportGap(_ first: Int64) {
        Output.error.line("xferctl: older events are no longer kept; the oldest is number \(first)")
    }
}
