import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Keeps the live view of the whole queue current until the user quits.
struct QueueWatcher {
    private var session: LiveSession
    private var model = WatchModel()
    private let terminal: Terminal
    private let screen: FullScreen
    private let keyboard: TerminalMode?
    private var notice: String?
    private var nextFrame = Readiness.now
    private var nextRefresh = Readiness.now
    private var needsFrame = true

    /// Least time between two frames and between two listings.
    private static let frameInterval = Duration.milliseconds(100)
    private static let refreshInterval = Duration.seconds(1)

    init(options: ConnectionOptions, terminal: Terminal) throws(CommandFailure) {
        let signals = SignalPipe(catching: SignalPipe.displaySignals)
        let readsKeys = isatty(STDIN_FILENO) == 1
        // Connected first: without a daemon the screen stays as it was and shows the error.
        session = try LiveSession(options, signals: signals, keyboard: readsKeys ? STDIN_FILENO : nil)
        self.terminal = terminal
        keyboard = readsKeys ? TerminalMode(readingKeysFrom: STDIN_FILENO, keepsSignals: true) : nil
        screen = FullScreen(terminal: terminal)
    }

    mutating func run() throws(CommandFailure) {
        screen.enter()
        defer {
            screen.leave()
            keyboard?.restore()
        }
        do throws(CommandFailure) {
            try subscribe()
            while try step() {}
        } catch {
            // Leaving a view by Ctrl-C is how one leaves it.
            guard error.status == .interrupted else { throw error }
        }
    }

    /// - Returns: whether to go on.
    private mutating func step() throws(CommandFailure) -> Bool {
        let now = Readiness.now
        if model.isStale || model.isMoving, now >= nextRefresh { try refreshOrRecover() }
        if needsFrame && now >= nextFrame { draw() }
        switch session.next(until: wakeUp) {
        case .event(let event, _):
            model.onEvent(event)
            if event.type == .known(.overflow) { try subscribe() }
            needsFrame = true
        case .lost: try recover()
        case .signals(let caught):
            if !caught.isDisjoint(with: [SIGINT, SIGTERM]) { return false }
            if caught.contains(SIGTSTP) { suspend() }
            needsFrame = true
        case .keys(let keys):
            let quit: [UInt8] = [UInt8(ascii: "q"), UInt8(ascii: "Q"), 3, 4]
            if keys.contains(where: quit.contains) { return false }
        case .timeUp: needsFrame = needsFrame || model.hasCountdown
        }
        return true
    }

    /// Ctrl-Z: gives the terminal back as it was until the shell lets this go on.
    private func suspend() {
        screen.leave()
        keyboard?.restore()
        SignalPipe.suspendProcess()
        keyboard?.apply()
        screen.enter()
    }

    /// Nil while nothing moves: then nothing wakes this process.
    private var wakeUp: ContinuousClock.Instant? {
        var times: [ContinuousClock.Instant] = []
        if model.isStale || model.isMoving { times.append(nextRefresh) }
        if needsFrame { times.append(nextFrame) }
        if model.hasCountdown { times.append(Readiness.now + .seconds(1)) }
        return times.min()
    }

    private mutating func draw() {
        let layout = WatchScreen(
            style: terminal.style, bar: Bar(usesUnicode: terminal.usesUnicode), size: terminal.size, now: .now)
        screen.show(layout.lines(model, notice: notice))
        needsFrame = false
        nextFrame = Readiness.now + Self.frameInterval
    }

    // MARK: The daemon

    private mutating func subscribe() throws(CommandFailure) {
        _ = try session.daemon.call(EventsSubscribe.self, EventsSubscribe.Params())
    }

    private mutating func refreshOrRecover() throws(CommandFailure) {
        do throws(CommandFailure) {
            if model.isStale { try refresh() } else { try refreshRates() }
        } catch {
            guard error.status == .noDaemon else { throw error }
            try recover()
        }
    }

    private mutating func refresh() throws(CommandFailure) {
        let stats = try session.daemon.call(QueueStats.self).value
        let active = try list([.running, .waiting], .ascending, limit: WatchModel.capacity)
        let recent = try list([.completed, .failed, .cancelled], .descending, limit: 50)
        model.onRefresh(stats: stats, active: active, recent: recent)
        nextRefresh = Readiness.now + Self.refreshInterval
        needsFrame = true
    }

    private mutating func refreshRates() throws(CommandFailure) {
        model.stats = try session.daemon.call(QueueStats.self).value
        nextRefresh = Readiness.now + Self.refreshInterval
        needsFrame = true
    }

    private func list(
        _ states: [TaskState], _ order: ListOrder, limit: Int
    ) throws(CommandFailure) -> [TaskSummary] {
        var params = TaskList.Params()
        params.filter = TaskFilter()
        params.filter?.state = OneOrMany(states)
        params.fields = TaskSummary.columns
        params.order = order
        params.limit = limit
        return try session.daemon.call(TaskList.self, params).value.tasks.map { TaskSummary($0) }
    }

    private mutating func recover() throws(CommandFailure) {
        notice = "the daemon went away; looking for it"
        draw()
        let end = Readiness.now + LiveSession.patience
        while true {
            if try session.reconnect(until: end) != nil { throw CommandFailure(.interrupted) }
            do throws(CommandFailure) {
                try subscribe()
                try refresh()
                break
            } catch {
                guard error.status == .noDaemon else { throw error }
            }
        }
        notice = nil
        needsFrame = true
    }
}
