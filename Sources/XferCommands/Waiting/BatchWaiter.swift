import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Waits until a batch has completed, and says how; outlives restarts of the daemon.
struct BatchWaiter {
    private let id: BatchID
    private let options: VerbOptions
    private var session: LiveSession
    private let deadline: ContinuousClock.Instant?

    /// - Parameter timeout: nil waits without end.
    init(
        _ id: BatchID, _ options: VerbOptions, timeout: TimeSpan?, isDaemonKnown: Bool = false
    ) throws(CommandFailure) {
        self.id = id
        self.options = options
        session = try LiveSession(
            options.connection, signals: SignalPipe(catching: SignalPipe.displaySignals), isDaemonKnown: isDaemonKnown)
        deadline = timeout.map { Readiness.now.advanced(by: .seconds($0.seconds)) }
    }

    /// Waits, and notifies at the end if that is requested.
    ///
    /// - Parameter showDocument: gets the batch's end where JSON is printed.
    static func wait(
        for id: BatchID, _ options: VerbOptions, timeout: TimeSpan?, notifies: Bool, isDaemonKnown: Bool = false,
        _ showDocument: (DaemonSession.Answer<BatchGet.Result>) -> Void
    ) throws(CommandFailure) -> ExitStatus {
        var notifier = notifies ? Notifier() : nil
        if notifier?.isUsable == false { Output.error.line("xferctl: --notify: \(Notifier.uselessness)") }
        do throws(CommandFailure) {
            var waiter = try BatchWaiter(id, options, timeout: timeout, isDaemonKnown: isDaemonKnown)
            var end: BatchRecord?
            let status = try waiter.run {
                end = $0.value.batch
                if options.output.json { showDocument($0) }
            }
            if let end { notifier?.deliver(DesktopNote(end)) }
            return status
        } catch {
            // Other errors come at once, or from the user.
            if error.status == .timedOut || error.status == .noDaemon {
                notifier?.deliver(DesktopNote(summary: "xferctl no longer waits", body: error.message))
            }
            throw error
        }
    }

    /// - Parameter onEnd: takes the batch when it has ended.
    private mutating func run(
        _ onEnd: (DaemonSession.Answer<BatchGet.Result>) -> Void
    ) throws(CommandFailure) -> ExitStatus {
        while true {
            do throws(CommandFailure) {
                if let answer = try follow() {
                    onEnd(answer)
                    if !options.output.json {
                        options.show(answer) { result, terminal in
                            BatchText(style: terminal.style).lines(result.batch)
                        }
                    }
                    let batch = answer.value.batch
                    return batch.skipped > 0 || batch.counts.cancelled > 0 ? .taskFailed : .done
                }
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

    /// Returns when the batch has to be read again.
    private mutating func wait() throws(CommandFailure) {
        while true {
            switch session.next(until: deadline) {
            case .event(let event, _):
                if event.type == .known(.overflow) { return }
                if event.type == .known(.durable(.batchCompleted)), event.value("batch") == id { return }
            case .lost:
                if let caught = try session.reconnect(until: Readiness.now + LiveSession.patience) {
                    if !caught.isDisjoint(with: [SIGINT, SIGTERM]) { throw interrupted }
                }
                return
            case .signals(let caught):
                if !caught.isDisjoint(with: [SIGINT, SIGTERM]) { throw interrupted }
                if caught.contains(SIGTSTP) { SignalPipe.suspendProcess() }
            case .keys, .answered: break
            case .timeUp: throw CommandFailure(.timedOut, "time is up; the batch goes on in the daemon")
            }
        }
    }

    private var interrupted: CommandFailure {
        CommandFailure(
            .interrupted, "interrupted; the batch goes on in the daemon. Look with `xferctl batch show \(id)`.")
    }
}
