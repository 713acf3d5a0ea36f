import Glibc
import XferClient
import XferModel
import XferProtocol

/// Keeps the live view of the whole queue on the screen until the user quits.
///
/// `WatchModel` decides what is shown and requested; this type has the effects: the connection, the terminal and the
/// clock. No call blocks, so that keys work while the daemon is busy or away.
struct QueueWatcher {
    private var session: LiveSession
    private var model: WatchModel
    private var keys = KeyDecoder()
    private var screen: FullScreen
    private let terminal: Terminal
    private let keyboard: TerminalMode?
    /// Calls whose answers have not come, in the order they were sent.
    private var calls: [(id: Int64, request: WatchRequest, sentAt: ContinuousClock.Instant)] = []
    /// The time of the next attempt to reach the daemon; nil while there is a connection.
    private var nextSearch: ContinuousClock.Instant?
    private var nextFrame = Readiness.now
    private var needsFrame = true
    /// The events since the last frame, which the model applies together: thousands of transfers report their progress
    /// each second.
    private var events: [EventMessage] = []

    /// The shortest time between two frames.
    private static let frameInterval = Duration.milliseconds(50)
    /// The interval between attempts to reach a daemon that is away.
    private static let searchInterval = Duration.milliseconds(250)
    /// Longest pause between the bytes of one key.
    private static let keyInterval = Duration.milliseconds(50)
    /// The time after which the user is informed that an answer is late.
    private static let answerTime = Duration.seconds(5)

    init(options: ConnectionOptions, terminal: Terminal) throws(CommandFailure) {
        let signals = SignalPipe(catching: SignalPipe.fullScreenSignals)
        let readsKeys = isatty(STDIN_FILENO) == 1
        // Connected first: without a daemon the screen stays as it was and shows the error.
        session = try LiveSession(options, signals: signals, keyboard: readsKeys ? STDIN_FILENO : nil)
        self.terminal = terminal
        model = WatchModel(size: terminal.size)
        keyboard = readsKeys ? TerminalMode(readingKeysFrom: STDIN_FILENO, keepsSignals: true) : nil
        screen = FullScreen(terminal: terminal)
    }

    mutating func run() {
        screen.enter()
        defer {
            screen.leave()
            keyboard?.restore()
        }
        while step() {}
    }

    /// Waits for the next input, and handles it.
    ///
    /// - Returns: true to continue.
    private mutating func step() -> Bool {
        let now = Readiness.now
        if now >= nextFrame { takeEvents() }
        if let nextSearch { if now >= nextSearch { search() } } else { sendRequests(at: now) }
        noticeSilence(at: now)
        if needsFrame && now >= nextFrame { draw(at: now) }
        let occurrence =
            nextSearch == nil
            ? session.next(until: wakeUp(at: now), answersTo: calls.map(\.id))
            : session.nextWithoutDaemon(until: wakeUp(at: now) ?? now + Self.searchInterval)
        // Answers and keys are about what came before them.
        if case .event = occurrence {} else { takeEvents() }
        switch occurrence {
        case .event(let event, _): events.append(event)
        case .answered(let id): take(id)
        case .lost: lose()
        case .signals(let caught): return handle(caught)
        // A terminal that hung up.
        case .keys(let bytes) where bytes.isEmpty: return false
        case .keys(let bytes): return handle(keys.decode(bytes))
        case .timeUp: if keys.isAfterEscape { return handle(keys.onPause()) }
        }
        needsFrame = true
        return true
    }

    private mutating func takeEvents() {
        guard !events.isEmpty else { return }
        model.onEvents(events)
        events.removeAll(keepingCapacity: true)
    }

    private mutating func handle(_ keys: [Key]) -> Bool {
        for key in keys {
            switch model.onKey(key) {
            case .quit: return false
            case .send(let request):
                // The notice that the daemon is away is in the place of a message.
                if nextSearch == nil { send(request) }
            case nil: break
            }
        }
        needsFrame = true
        return true
    }

    private mutating func handle(_ signals: Set<Int32>) -> Bool {
        if !signals.isDisjoint(with: SignalPipe.endSignals + [SIGQUIT]) { return false }
        if signals.contains(SIGTSTP) {
            // Ctrl-Z: the shell gets the terminal as it was until it lets this go on.
            screen.leave()
            keyboard?.restore()
            SignalPipe.suspendProcess()
        }
        if signals.contains(SIGTSTP) || signals.contains(SIGCONT) {
            keyboard?.apply()
            screen.enter()
        }
        needsFrame = true
        return true
    }

    /// The time of the next wake-up; nil while nothing moves: then nothing wakes this process.
    private func wakeUp(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var times = [nextSearch ?? model.wakeUp(at: now)].compactMap(\.self)
        if needsFrame { times.append(nextFrame) }
        if keys.isAfterEscape { times.append(now + Self.keyInterval) }
        if let oldest = calls.first { times.append(max(oldest.sentAt + Self.answerTime, now + .seconds(1))) }
        return times.min()
    }

    private mutating func draw(at now: ContinuousClock.Instant) {
        model.size = terminal.size
        let layout = WatchScreen(
            style: terminal.style, glyphs: Glyphs(usesUnicode: terminal.usesUnicode), readsKeys: keyboard != nil,
            now: .now)
        screen.show(layout.lines(model))
        needsFrame = false
        nextFrame = now + Self.frameInterval
    }

    // MARK: The daemon

    private mutating func sendRequests(at now: ContinuousClock.Instant) {
        model.size = terminal.size
        for request in model.requests(at: now) where nextSearch == nil { send(request) }
    }

    private mutating func send(_ request: WatchRequest) {
        do throws(CallError) {
            let id = try session.daemon.connection.send(
                request.method, request.params, timeout: DaemonSession.patience)
            calls.append((id, request, Readiness.now))
        } catch {
            lose()
        }
    }

    /// Applies an answer that has arrived.
    private mutating func take(_ id: Int64) {
        guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
        let request = calls.remove(at: index).request
        let answer: WatchAnswer
        do throws(CallError) {
            answer = request.answer(try session.daemon.connection.answer(to: id, timeout: .zero))
        } catch .refused(let failure) {
            answer = .refused(CommandFailure(failure).message, code: failure.knownCode)
        } catch {
            return lose()
        }
        if case .refused(_, .shuttingDown) = answer { return lose() }
        model.notice = nil
        model.onAnswer(answer, to: request, at: Readiness.now)
    }

    private mutating func noticeSilence(at now: ContinuousClock.Instant) {
        guard let oldest = calls.first, now >= oldest.sentAt + Self.answerTime else { return }
        let span = DurationText.short(oldest.sentAt.duration(to: now).components.seconds)
        let notice = "the daemon has not answered for \(span)"
        guard model.notice != notice else { return }
        model.notice = notice
        needsFrame = true
    }

    private mutating func lose() {
        calls = []
        nextSearch = Readiness.now + Self.searchInterval
        model.notice = "the daemon is gone; reconnecting"
        needsFrame = true
    }

    private mutating func search() {
        do throws(CommandFailure) {
            if try session.reconnect(until: Readiness.now) == nil {
                nextSearch = nil
                model.notice = nil
                model.onConnection()
            }
        } catch {
            // It is still away, or a signal came, which is handled next.
            nextSearch = Readiness.now + Self.searchInterval
        }
        needsFrame = true
    }
}
