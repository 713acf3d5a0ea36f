import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Prints arriving events, one line each, across restarts of the daemon.
struct EventStream {
    let options: ConnectionOptions
    /// True if events are printed as unchanged JSON.
    let isRaw: Bool
    /// The types of events; nil is all types except progress.
    var types: [EventName]?
    /// The tasks of events; nil is all events.
    var tasks: [TaskID]?
    /// The number of the event to begin after; nil begins with new events.
    var since: Int64?

    private var wanted: [EventName] { types ?? Self.known(options).filter { $0 != .progress } }

    /// All types that the daemon or the fleet's agent knows.
    static func known(_ options: ConnectionOptions) -> [EventName] {
        options.isFleet ? EventName.allCases : EventName.ofDaemon
    }

    /// The time between two checks of a pipe's other end while nothing happens.
    private static let glance = Duration.seconds(1)

    /// Returns with an error, or when the reader of standard output has closed; Ctrl-C is `.interrupted`.
    func follow() throws(CommandFailure) {
        var session = try LiveSession(options, signals: SignalPipe(catching: SignalPipe.endSignals))
        var cursor = EventCursor(types: wanted, tasks: tasks, since: since)
        try cursor.subscribe(session.daemon)
        while true {
            // A reader that has seen enough, such as head(1), is noticed by a write, and without one by looking.
            switch session.next(until: Output.isTerminal ? nil : Readiness.now + Self.glance) {
            case .event(let event, let raw):
                if event.type == .known(.overflow) {
                    try cursor.resubscribe(after: event, session.daemon)
                } else {
                    cursor.advance(past: event)
                    try show(event, raw: raw)
                }
            case .lost:
                try EventCursor.recover(&session) { daemon throws(CommandFailure) in
                    try cursor.subscribe(daemon)
                }
            case .signals: throw CommandFailure(.interrupted)
            case .timeUp: if Output.hasLostReader { return }
            case .keys, .answered: break
            }
        }
    }

    /// Prints the events after `since` until now.
    func readAll() throws(CommandFailure) {
        let daemon = try DaemonSession.open(options.instance())
        var params = query(after: since ?? 0)
        while true {
            let answer = try daemon.call(EventsSince.self, params)
            switch answer.value {
            case .gap(let gap):
                EventCursor.reportGap(gap.firstSeq)
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

    private func query(after seq: Int64) -> EventsSince.Params {
        var params = EventsSince.Params(seq: seq)
        params.types = OneOrMany(wanted.filter(\.isDurable))
        params.taskIDs = tasks.map { OneOrMany($0) }
        return params
    }

    /// The number of the event after which the newest stored events of this stream begin, this many of them or all.
    ///
    /// The daemon reads forwards only: this reads ever longer parts of the past, from the newest one on.
    func begin(ofNewest count: Int64, _ daemon: DaemonSession) throws(CommandFailure) -> Int64 {
        var end = try daemon.lastEventNumber()
        guard wanted.contains(where: \.isDurable) else { return end }
        var missing = Int(clamping: count)
        var length: Int64 = 1000
        var oldest: Int64 = 0
        while end > oldest {
            let start = max(oldest, end.subtractingSaturated(length))
            let numbers = try numbers(after: start, through: end, &oldest, daemon)
            if numbers.count >= missing { return numbers[numbers.count - missing].subtractingSaturated(1) }
            missing -= numbers.count
            end = start
            length = length.multipliedSaturated(by: 4)
        }
        return oldest
    }

    /// The numbers of the stream's events between two numbers.
    ///
    /// - Parameter oldest: becomes the number before the oldest stored event, if that is after `start`.
    private func numbers(
        after start: Int64, through end: Int64, _ oldest: inout Int64, _ daemon: DaemonSession
    ) throws(CommandFailure) -> [Int64] {
        var params = query(after: start)
        var numbers: [Int64] = []
        while params.seq < end {
            switch try daemon.call(EventsSince.self, params).value {
            case .gap(let gap):
                oldest = gap.firstSeq.subtractingSaturated(1)
                params.seq = max(oldest, params.seq.addingSaturated(1))
            case .events(let page):
                numbers += page.events.compactMap(\.seq).filter { $0 <= end }
                guard page.lastSeq > params.seq else { return numbers }
                params.seq = page.lastSeq
            }
        }
        return numbers
    }

    /// Prints an event.
    ///
    /// - Throws: if the event cannot be written, since later ones could not be written either.
    private func show(_ event: EventMessage, raw: JSONValue) throws(CommandFailure) {
        let terminal = Terminal.standard
        if isRaw {
            terminal.output.document(raw)
        } else {
            terminal.output.line(EventLine(style: terminal.style).line(event))
        }
        if let failure = Output.failure { throw CommandFailure(failure.status) }
    }
}
