import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Prints events as they come, one line each, over restarts of the daemon.
struct EventStream {
    let options: ConnectionOptions
    /// Whether events are printed as the JSON they came as.
    let isRaw: Bool
    var types: [EventName] = EventName.allCases.filter { $0 != .progress }
    /// Nil is about everything.
    var tasks: [TaskID]?
    /// Nil begins with what happens next.
    var since: Int64?

    /// Returns only by an error; Ctrl-C is `.interrupted`.
    func follow() throws(CommandFailure) {
        var session = try LiveSession(options, signals: SignalPipe(catching: [SIGINT, SIGTERM]))
        var last = since
        try subscribe(session.daemon, since: &last)
        while true {
            switch session.next(until: nil) {
            case .event(let event, let raw):
                last = event.seq ?? last
                if event.type == .known(.overflow) {
                    last = event.body["last_seq"]?.integerValue ?? last
                    try subscribe(session.daemon, since: &last)
                } else {
                    try show(event, raw: raw)
                }
            case .lost: try recover(&session, since: &last)
            case .signals: throw CommandFailure(.interrupted)
            case .keys, .answered, .timeUp: break
            }
        }
    }

    /// Prints what happened after `since` until now.
    func readAll() throws(CommandFailure) {
        let daemon = try DaemonSession.open(options.instance)
        var params = EventsSince.Params(seq: since ?? 0)
        params.types = OneOrMany(types.filter { if case .durable = $0 { true } else { false } })
        params.taskIDs = tasks.map { OneOrMany($0) }
        while true {
            let answer = try daemon.call(EventsSince.self, params)
            switch answer.value {
            case .gap(let gap):
                Self.tellGap(gap.firstSeq)
                params.seq = max(gap.firstSeq.subtractingSaturated(1), params.seq.addingSaturated(1))
            case .events(let page):
                for (event, raw) in zip(page.events, answer.raw["events"]?.arrayValue ?? []) {
                    try show(event, raw: raw)
                }
                guard page.lastSeq > params.seq else { return }
                params.seq = page.lastSeq
            }
        }
    }

    private func recover(_ session: inout LiveSession, since last: inout Int64?) throws(CommandFailure) {
        Output.error.line("xferctl: the daemon went away; looking for it")
        let end = Readiness.now + LiveSession.patience
        while true {
            if try session.reconnect(until: end) != nil { throw CommandFailure(.interrupted) }
            do throws(CommandFailure) {
                return try subscribe(session.daemon, since: &last)
            } catch {
                guard error.status == .noDaemon else { throw error }
            }
        }
    }

    /// Afterwards `last` is where a next subscription has to begin so that nothing is missed.
    private func subscribe(_ daemon: DaemonSession, since last: inout Int64?) throws(CommandFailure) {
        let params = EventsSubscribe.Params(types: types, taskIDs: tasks, since: last)
        let result = try daemon.call(EventsSubscribe.self, params).value
        if let first = result.firstSeq { Self.tellGap(first) }
        last = last ?? result.lastSeq
    }

    /// - Throws: when the event cannot be written: the next ones could not be written either.
    private func show(_ event: EventMessage, raw: JSONValue) throws(CommandFailure) {
        let terminal = Terminal.standard
        terminal.output.line(isRaw ? raw.text : EventLine(style: terminal.style).line(event))
        if let failure = Output.failure { throw CommandFailure(failure.status) }
    }

    private static func tellGap(_ first: Int64) {
        Output.error.line("xferctl: older events are no longer kept; the oldest is number \(first)")
    }
}
