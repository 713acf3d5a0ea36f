import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Waits until a batch has completed, and reports its end; survives restarts of the daemon.
struct BatchWaiter {
    private let id: BatchID
    private let options: VerbOptions
    private var session: LiveSession
    private let deadline: ContinuousClock.Instant?
    private let terminal: Terminal
    /// True if only a batch with failures is shown, on standard error.
    private let isQuiet: Bool
    private var region: LiveRegion
    private var nextFrame = Readiness.now
    /// The figures of the members, and the time at which they are read again.
    private var figures: (value: MemberFigures?, until: ContinuousClock.Instant)?

    /// The time between two frames.
    private static let frameInterval = Duration.seconds(1)
    /// The pause between two readings of the figures, as a multiple of the time that a reading takes.
    private static let pauseFactor = 20

    /// - Parameter timeout: nil waits without a limit.
    init(
        _ id: BatchID, _ options: VerbOptions, timeout: TimeSpan?, isDaemonKnown: Bool = false, isQuiet: Bool = false,
        terminal: Terminal = .standard
    ) throws(CommandFailure) {
        self.id = id
        self.isQuiet = isQuiet
        self.options = options
        self.terminal = terminal
        region = LiveRegion(terminal)
        session = try LiveSession(
            options.connection, signals: SignalPipe(catching: SignalPipe.displaySignals), isDaemonKnown: isDaemonKnown)
        deadline = timeout.map { Readiness.now.advanced(by: .seconds($0.seconds)) }
    }

    /// Waits, and notifies at the end if that is requested.
    ///
    /// - Parameter showDocument: called with the completed batch if JSON is printed.
    static func wait(
        for id: BatchID, _ options: VerbOptions, timeout: TimeSpan?, notifies: Bool, isDaemonKnown: Bool = false,
        isQuiet: Bool = false,
        _ showDocument: (DaemonSession.Answer<BatchGet.Result>) -> Void
    ) throws(CommandFailure) -> ExitStatus {
        var notifier = Notifier.requested(notifies)
        do throws(CommandFailure) {
            var waiter = try BatchWaiter(
                id, options, timeout: timeout, isDaemonKnown: isDaemonKnown, isQuiet: isQuiet)
            var end: BatchRecord?
            let status = try waiter.run {
                end = $0.value.batch
                if options.output.json { showDocument($0) }
            }
            if let end { notifier?.deliver(DesktopNote(end)) }
            return status
        } catch {
            notifier?.deliver(error)
            throw error
        }
    }

    /// Follows the batch until it has ended.
    ///
    /// - Parameter onEnd: called with the batch when it has ended.
    private mutating func run(
        _ onEnd: (DaemonSession.Answer<BatchGet.Result>) -> Void
    ) throws(CommandFailure) -> ExitStatus {
        defer { region.clear() }
        var isFirst = true
        while true {
            do throws(CommandFailure) {
                if let answer = try follow() {
                    let figures =
                        options.output.json ? nil : try MemberFigures.read(of: answer.value.batch, session.daemon)
                    region.clear()
                    onEnd(answer)
                    let batch = answer.value.batch
                    let hasFailures = batch.skipped > 0 || batch.counts.cancelled > 0
                    if !options.output.json, !isQuiet || hasFailures {
                        options.show(answer, on: isQuiet ? .error : .standard) { result, terminal in
                            BatchText(style: terminal.style).lines(result.batch, figures)
                        }
                        if batch.skipped > 0 {
                            let command = SuggestedCommand.text("failed --group \(SafeText.sanitised(batch.group))")
                            let output = isQuiet ? Output.error : terminal.output
                            output.line("\(command) says why \(batch.skipped) failed.")
                        }
                    }
                    return hasFailures ? .taskFailed : .done
                }
                if isFirst, !options.output.json, !isQuiet { session.daemon.reportPausedQueue() }
                isFirst = false
            } catch {
                // It went away while it was being asked.
                guard error.status == .noDaemon else { throw error.status == .interrupted ? interrupted : error }
            }
            try wait()
        }
    }

    /// Subscribes, then reads the batch: changes in between come as events, so nothing is missed. Returns nil while the
    /// batch is not finished.
    private func follow() throws(CommandFailure) -> DaemonSession.Answer<BatchGet.Result>? {
        _ = try session.daemon.call(
            EventsSubscribe.self, EventsSubscribe.Params(types: [.durable(.batchCompleted)]))
        let answer = try session.daemon.call(BatchGet.self, BatchGet.Params(id: id))
        return answer.value.batch.completedAt == nil ? nil : answer
    }

    /// Waits until the batch has to be read again.
    private mutating func wait() throws(CommandFailure) {
        while true {
            if showsProgress, Readiness.now >= nextFrame { try draw() }
            let wakeUp = showsProgress ? deadline.map { min($0, nextFrame) } ?? nextFrame : deadline
            switch try session.nextEvent(until: wakeUp, interrupted: interrupted) {
            case .event(let event):
                if event.type == .known(.durable(.batchCompleted)), event.value("batch") == id { return }
            case .stale: return
            case .timeUp:
                guard let deadline, Readiness.now >= deadline else { break }
                throw CommandFailure(.timedOut, "time is up; the batch continues in the daemon")
            }
        }
    }

    // MARK: Progress

    private var showsProgress: Bool { terminal.isInteractive && !options.output.json && !isQuiet }

    /// Shows how far the batch is, in one line.
    private mutating func draw() throws(CommandFailure) {
        nextFrame = Readiness.now + Self.frameInterval
        do throws(CommandFailure) {
            let batch = try session.daemon.call(BatchGet.self, BatchGet.Params(id: id)).value.batch
            let begin = Readiness.now
            if figures.map({ $0.until <= begin }) ?? true {
                let value = try MemberFigures.read(of: batch, session.daemon)
                figures = (value, Readiness.now + begin.duration(to: Readiness.now) * Self.pauseFactor)
            }
            let text = TextWidth.fitted(
                BatchText.line(batch, figures?.value), to: terminal.size.columns,
                ellipsis: terminal.usesUnicode ? "…" : "..")
            region.show([LiveRegion.Line(text)])
        } catch {
            // The session notices by itself that the daemon went away.
            guard error.status == .noDaemon else { throw error.status == .interrupted ? interrupted : error }
        }
    }

    private var interrupted: CommandFailure {
        CommandFailure(
            .interrupted,
            "interrupted; the batch continues in the daemon. `xferctl batch show \(id)` shows its progress.")
    }
}
