import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Prints and notifies how tasks end, across restarts of the daemon.
struct EndStream {
    let options: VerbOptions
    let filters: FilterOptions
    /// The number of the event after which it begins; nil begins with new events.
    let since: Int64?

    /// The events with which a task has ended, or has all its bytes.
    private static let types = EventType.allCases.filter { $0.isTerminal || $0 == .taskStaged }.map(EventName.durable)

    /// Returns only with an error; Ctrl-C is `.interrupted`.
    func follow() throws(CommandFailure) {
        var notifier = Notifier()
        guard notifier.isUsable else {
            throw .usage("\(Notifier.uselessness); `xferctl events` prints what happens")
        }
        var session = try LiveSession(options.connection, signals: SignalPipe(catching: SignalPipe.endSignals))
        var cursor = EventCursor(types: Self.types, tasks: nil, since: since)
        var storeID: String?
        do throws(CommandFailure) {
            try subscribe(&cursor, &storeID, session.daemon)
            while true {
                notifier.proceed()
                switch session.next(until: notifier.wakeUp) {
                case .event(let event, let raw):
                    try process(event, raw, &cursor, &notifier, session.daemon)
                case .lost:
                    try EventCursor.recover(&session) { daemon throws(CommandFailure) in
                        try subscribe(&cursor, &storeID, daemon)
                    }
                case .signals: throw CommandFailure(.interrupted)
                case .keys, .answered, .timeUp: break
                }
            }
        } catch {
            guard error.status == .interrupted else { throw error }
            // What was not shown yet is shown by the next run.
            guard let next = notifier.firstWaiting.map({ $0 - 1 }) ?? cursor.last else { throw error }
            throw CommandFailure(.interrupted, "interrupted; `xferctl notify --since \(next)` continues from here")
        }
    }

    /// Subscribes to the events. In a new database their numbers start from the beginning.
    private func subscribe(
        _ cursor: inout EventCursor, _ storeID: inout String?, _ daemon: DaemonSession
    ) throws(CommandFailure) {
        let found = try daemon.call(DaemonStatus.self).value.storeID
        if let storeID, storeID != found {
            Output.error.line("xferctl: the daemon has another database now; continuing with its events")
            cursor.restart()
        }
        storeID = found
        try cursor.subscribe(daemon)
    }

    private func process(
        _ event: EventMessage, _ raw: JSONValue, _ cursor: inout EventCursor, _ notifier: inout Notifier,
        _ daemon: DaemonSession
    ) throws(CommandFailure) {
        do throws(CommandFailure) {
            if event.type == .known(.overflow) { return try cursor.resubscribe(after: event, daemon) }
            guard cursor.isNew(event), let seq = event.seq else { return }
            if let task = try task(event, daemon) {
                try show(task, raw)
                notifier.add(task, seq: seq)
            }
            cursor.advance(past: event)
        } catch {
            // The connection is lost, as the session notices next. The event comes again.
            guard error.status == .noDaemon else { throw error }
        }
    }

    /// The task in its state after the event; nil if the filters exclude it.
    private func task(_ event: EventMessage, _ daemon: DaemonSession) throws(CommandFailure) -> TaskSummary? {
        guard let id = event.taskID else { return nil }
        var params = TaskList.Params()
        var filter = filters.filter ?? TaskFilter()
        // The task may have been retried meanwhile: its state is the event's.
        filter.state = nil
        let isFiltered = filter != TaskFilter()
        filter.ids = OneOrMany([id])
        params.filter = filter
        params.fields = TaskSummary.columns
        let found = try daemon.call(TaskList.self, params).value.tasks.first.map { TaskSummary($0) }
        // A task that was removed meanwhile is known by its id only.
        guard found != nil || !isFiltered else { return nil }
        var task = found ?? TaskSummary(id: id.rawValue, name: "task \(id)", state: "")
        task.apply(event)
        let states = filters.states.map(\.rawValue)
        return states.isEmpty || states.contains(task.state) ? task : nil
    }

    private func show(_ task: TaskSummary, _ raw: JSONValue) throws(CommandFailure) {
        let terminal = Terminal.standard
        let lines = options.output.json ? [raw.text] : OutcomeText(style: terminal.style).lines(task)
        for line in lines { terminal.output.line(line) }
        if let failure = Output.failure { throw CommandFailure(failure.status) }
    }
}
