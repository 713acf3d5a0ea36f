import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Waits until tasks have ended, with one live bar each on a terminal and plain lines elsewhere; continues across
/// restarts of the daemon.
struct TaskWaiter {
    /// The output while it waits.
    enum Verbosity {
        case everything
        /// Only ends without a file or with a warning, on standard error: for `--quiet`.
        case failures
        /// Reports only problems of the connection: for `--json`.
        case nothing
    }

    private var board: TaskBoard
    private var session: LiveSession
    private var region: LiveRegion
    private let terminal: Terminal
    private let verbosity: Verbosity
    /// True if staged tasks are read, and not published, afterwards.
    private let readsStaged: Bool
    private let deadline: ContinuousClock.Instant?
    private var lastFrame = Readiness.now - .seconds(1)
    private var needsFrame = true
    /// The time at which queued tasks are explained by a paused queue; nil afterwards. Most are no longer queued then.
    private var pauseCheck: ContinuousClock.Instant?
    /// True if the last frame counts seconds down.
    private var hasCountdown = false
    /// The identity of the database to which the ids belong.
    private var storeID: String?
    /// Tasks that need not be listed, since all their events are replayed.
    private let added: AddedTasks?

    /// The advice that was printed, without the tasks' ids: many tasks may fail for one reason.
    private var advised: Set<[String]> = []

    /// The ends of waits that a listing has shown: their events, which the subscription sends, too, are not repeated.
    private var listedWaits: [Int64: Timestamp] = [:]

    /// The events that are printed without bars: tens of thousands of tasks may be awaited.
    private static let lineTypes = EventType.allCases.filter { type in
        type.isTerminal || [.taskStaged, .taskWaiting, .taskWarning, .taskRemoved].contains(type)
    }.map(EventName.durable)

    /// The shortest time between two frames.
    private static let frameInterval = Duration.milliseconds(100)

    /// - Parameters:
    ///   - added: the tasks that were just added.
    ///   - timeout: nil waits without a limit.
    ///   - signals: the pipe that already catches signals; nil catches them from now on.
    init(
        _ ids: [Int64], added: AddedTasks? = nil, options: ConnectionOptions, timeout: Duration?, verbosity: Verbosity,
        isDaemonKnown: Bool = false, readsStaged: Bool = false, signals: SignalPipe? = nil,
        terminal: Terminal = .standard
    ) throws(CommandFailure) {
        board = TaskBoard(ids: ids)
        self.added = added
        session = try LiveSession(
            options, signals: signals ?? SignalPipe(catching: SignalPipe.displaySignals),
            isDaemonKnown: isDaemonKnown)
        region = LiveRegion(terminal)
        self.terminal = terminal
        self.verbosity = verbosity
        self.readsStaged = readsStaged
        deadline = timeout.map { Readiness.now.advanced(by: $0) }
        pauseCheck = verbosity == .everything ? Readiness.now + .seconds(1) : nil
    }

    /// The session, for a last call after waiting.
    var daemon: DaemonSession { session.daemon }

    /// The tasks as they are known; those that were removed are left out.
    var tasks: [TaskSummary] { board.ids.compactMap { board.tasks[$0] } }

    /// The note about the tasks' ends, for a notification.
    var note: DesktopNote {
        let ends = tasks
        return DesktopNote(ends, removed: board.ids.count - ends.count)
    }

    /// Waits and prints how each task ended.
    mutating func run() throws(CommandFailure) -> ExitStatus {
        defer { region.finish() }
        do throws(CommandFailure) {
            do throws(CommandFailure) {
                try follow(isFirst: true)
            } catch {
                // It went away while it was being asked.
                guard error.status == .noDaemon else { throw error }
                try recover()
            }
            try loop()
        } catch {
            // Ctrl-C while a call was under way.
            throw error.status == .interrupted ? interrupted : error
        }
        region.clear()
        return board.status
    }

    private mutating func loop() throws(CommandFailure) {
        while !board.isFinished {
            if let pauseCheck, Readiness.now >= pauseCheck { explainQueued() }
            if needsFrame && Readiness.now >= lastFrame + Self.frameInterval { draw() }
            switch session.next(until: wakeUp) {
            case .event(let event, _): try apply(event)
            case .lost: try recover()
            case .signals(let caught): try handle(caught)
            case .keys, .answered: break
            case .timeUp:
                if let deadline, Readiness.now >= deadline { throw timedOut }
                needsFrame = true
            }
        }
    }

    // MARK: What happens

    /// Subscribes, then lists: changes in between arrive as events, so nothing is missed.
    private mutating func follow(isFirst: Bool) throws(CommandFailure) {
        try checkStore()
        // One subscription takes a bounded number of ids; beyond it everything comes and the board picks its own.
        let selected = board.unfinished.count <= TaskLimits.batchSize ? board.unfinished.map { TaskID($0) } : nil
        // After a loss of the daemon all are listed: it may have come back with an older state.
        let added = isFirst ? added : nil
        let answer = try session.daemon.call(
            EventsSubscribe.self,
            EventsSubscribe.Params(
                types: terminal.isInteractive ? nil : Self.lineTypes, taskIDs: selected, since: added?.since)
        ).value
        var present: Set<Int64> = []
        var ended: [TaskSummary] = []
        var reasons: [String] = []
        // Without a gap the replay tells all that has become of them.
        if let added, answer.gap != true {
            for task in added.tasks {
                _ = board.onListed(task)
                present.insert(task.id)
            }
        }
        let unfinished = board.unfinished.filter { !present.contains($0) }
        for start in stride(from: 0, to: unfinished.count, by: TaskPages.largest) {
            let ids = unfinished[start..<min(start + TaskPages.largest, unfinished.count)]
            var params = TaskList.Params()
            params.filter = TaskFilter()
            params.filter?.ids = OneOrMany(ids.map { TaskID($0) })
            params.fields = TaskSummary.columns
            params.limit = TaskPages.largest
            repeat {
                let page = try session.daemon.call(TaskList.self, params).value
                for record in page.tasks {
                    present.insert(record.id.rawValue)
                    let task = TaskSummary(record)
                    if let end = board.onListed(task) {
                        ended.append(end)
                    } else if task.waitReason != nil {
                        if reasons.count < Self.maxReasons { listedWaits[task.id] = task.waitUntil }
                        reasons.append(stateText(task, now: .now))
                    }
                }
                params.cursor = page.nextCursor
            } while params.cursor != nil
        }
        let missing = board.onListingEnd(present: present)
        if isFirst, let first = missing.first { throw CommandFailure(.refused, "there is no task \(first)") }
        var ends: [String] = []
        for task in ended { ends += outcome(task) }
        report(ends + missing.map { "#\($0) was removed" })
        // On a terminal the bars say it. The reasons of many tasks would hide the ends.
        if !terminal.isInteractive, verbosity == .everything { report(Array(reasons.prefix(Self.maxReasons))) }
    }

    /// Checks the database's identity. In a new database ids start from the beginning, and the id would be another
    /// task's.
    private mutating func checkStore() throws(CommandFailure) {
        let status: DaemonStatus.Result
        do throws(CommandFailure) {
            status = try session.daemon.call(DaemonStatus.self).value
        } catch {
            // A token that may add alone sees nothing of its tasks.
            guard error.status == .refused else { throw error }
            throw CommandFailure(.refused, "the transfer continues, but cannot be waited for: \(error.message)")
        }
        let found = status.storeID
        if let storeID, storeID != found {
            throw CommandFailure(
                .refused, "the daemon has another database now, which does not contain these tasks")
        }
        storeID = found
    }

    private mutating func apply(_ event: EventMessage) throws(CommandFailure) {
        if event.type == .known(.overflow) { return try follow(isFirst: false) }
        if let ended = board.onEvent(event) {
            let lines = outcome(ended)
            return report(lines)
        }
        if event.type == .known(.durable(.taskRemoved)), let id = event.taskID?.rawValue {
            let others = Set(board.unfinished).subtracting([id])
            return report(board.onListingEnd(present: others).map { "#\($0) was removed" })
        }
        if !terminal.isInteractive, verbosity == .everything, event.type == .known(.durable(.taskWaiting)),
            let id = event.taskID?.rawValue,
            let task = board.tasks[id], task.waitUntil == nil || listedWaits[id] != task.waitUntil
        {
            report([stateText(task, now: event.time)])
        }
        needsFrame = true
    }

    private mutating func explainQueued() {
        pauseCheck = nil
        guard board.unfinished.contains(where: { board.tasks[$0]?.state == TaskState.queued.rawValue }) else { return }
        region.clear()
        session.daemon.reportPausedQueue()
        needsFrame = true
    }

    private mutating func recover() throws(CommandFailure) {
        region.clear()
        let patience = DurationText.short(LiveSession.patience.components.seconds)
        Output.error.line("xferctl: the daemon is gone; reconnecting for \(patience)")
        let end = Readiness.now + LiveSession.patience
        while true {
            if let caught = try session.reconnect(until: end) { return try handle(caught) }
            do throws(CommandFailure) {
                try follow(isFirst: false)
                break
            } catch {
                // It went away again while starting.
                guard error.status == .noDaemon else { throw error }
            }
        }
        Output.error.line("xferctl: the daemon is back")
        needsFrame = true
    }

    private mutating func handle(_ signals: Set<Int32>) throws(CommandFailure) {
        if !signals.isDisjoint(with: SignalPipe.endSignals) { throw interrupted }
        if signals.contains(SIGTSTP) {
            region.clear()
            SignalPipe.suspendProcess()
        }
        needsFrame = true
    }

    private var interrupted: CommandFailure {
        let ids = board.unfinished
        let name = ids.count == 1 ? "\(ids[0])" : "ID"
        return CommandFailure(
            .interrupted,
            "interrupted; \(goesOn). Show with \(SuggestedCommand.text("show \(name)")) or \(SuggestedCommand.text("watch")), stop with \(SuggestedCommand.text("cancel \(name)"))."
        )
    }

    private var timedOut: CommandFailure { CommandFailure(.timedOut, "time is up; \(goesOn)") }

    private var goesOn: String {
        let count = board.unfinished.count
        return (count == 1 ? "the transfer continues" : "\(count) transfers continue") + " in the daemon"
    }

    // MARK: What is shown

    /// The highest number of tasks of a listing whose waits are explained.
    private static let maxReasons = 10

    private func stateText(_ task: TaskSummary, now: Timestamp) -> String {
        "#\(task.id) \(ProgressLine.stateText(task, now: now)): \(SafeText.sanitised(task.name))"
    }

    private mutating func outcome(_ task: TaskSummary) -> [String] {
        let isGood = task.isStaged || task.state == TaskState.completed.rawValue
        // A web page in place of a file is worth a line, too.
        if verbosity == .failures, isGood, task.warning == nil { return [] }
        let style = verbosity == .failures ? Terminal.error.style : terminal.style
        var text = OutcomeText(style: style, isReadAfterwards: readsStaged)
        if let failure = task.failure, task.state == TaskState.failed.rawValue {
            text.showsAdvice = advised.insert(text.advice(failure, id: 0)).inserted
        }
        return text.lines(task)
    }

    private mutating func report(_ lines: [String]) {
        guard verbosity != .nothing, !lines.isEmpty else { return }
        if verbosity == .failures {
            lines.forEach { Output.error.line($0) }
        } else if terminal.isInteractive {
            draw(finished: lines)
        } else {
            lines.forEach { terminal.output.line($0) }
        }
    }

    private mutating func draw(finished: [String] = []) {
        guard terminal.isInteractive, verbosity == .everything else { return needsFrame = false }
        let renderer = ProgressLine(terminal: terminal, now: .now)
        let rows = board.rows(limit: max(1, terminal.size.rows - 2))
        hasCountdown = rows.contains { $0.waitUntil != nil }
        region.show(rows.map { renderer.line($0) }, finished: finished.map { LiveRegion.Line($0) })
        lastFrame = Readiness.now
        needsFrame = false
    }

    /// The time of the next step without an event: a delayed frame, a countdown, or the end of `patience`.
    private var wakeUp: ContinuousClock.Instant? {
        var times = [deadline, pauseCheck].compactMap(\.self)
        if needsFrame { times.append(lastFrame + Self.frameInterval) }
        if hasCountdown { times.append(Readiness.now + .seconds(1)) }
        return times.min()
    }
}
