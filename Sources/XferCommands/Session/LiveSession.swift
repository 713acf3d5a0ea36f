import Glibc
import StrictJSON
import XferClient
import XferProtocol

/// A session that follows events: waits for them, for signals and for keys at once, and finds the daemon again when it
/// was restarted.
struct LiveSession {
    private(set) var daemon: DaemonSession
    private let signals: SignalPipe?
    /// The descriptor of the terminal from which keys are read.
    private let keyboard: Int32?

    /// The longest time for which a daemon may be away.
    static let patience = Duration.seconds(30)
    /// The interval between attempts to reach it.
    private static let retryInterval = Duration.milliseconds(250)

    /// - Parameter isDaemonKnown: true if the daemon has just answered; then the session waits for it while it
    ///   restarts.
    init(
        _ options: ConnectionOptions, signals: SignalPipe?, keyboard: Int32? = nil, isDaemonKnown: Bool = false
    ) throws(CommandFailure) {
        self.signals = signals
        self.keyboard = keyboard
        let end = Readiness.now + Self.patience
        while true {
            do throws(CommandFailure) {
                daemon = try DaemonSession.open(try options.instance(), interruption: signals?.descriptor)
                return
            } catch {
                guard isDaemonKnown, error.status == .noDaemon, Readiness.now < end else { throw error }
            }
            _ = Readiness.wait(for: [signals?.descriptor].compactMap(\.self), timeout: Self.retryInterval)
        }
    }

    enum Occurrence {
        /// The event, decoded and unchanged.
        case event(EventMessage, raw: JSONValue)
        /// The connection to the daemon was lost.
        case lost
        case signals(Set<Int32>)
        /// Bytes from a terminal; empty when it hung up.
        case keys([UInt8])
        /// The answer to a call has arrived.
        case answered(Int64)
        case timeUp
    }

    /// The next thing that happens, at the latest when `deadline` has passed.
    /// - Parameter calls: calls that were sent, in the order in which their answers are wanted.
    mutating func next(until deadline: ContinuousClock.Instant?, answersTo calls: [Int64] = []) -> Occurrence {
        while true {
            // First, so that a stream of events cannot keep the user waiting.
            if let occurrence = interruption(Readiness.wait(for: descriptors, timeout: .zero)) { return occurrence }
            do {
                if let notification = try daemon.connection.nextNotification(timeout: .zero) {
                    if let event = try notification.event() { return .event(event, raw: notification.params) }
                    continue
                }
            } catch ConnectionError.interrupted {
                // Signals are read below, whatever noticed them.
            } catch ConnectionError.closed where calls.contains(where: daemon.connection.hasAnswer) {
                // The answers that came before are taken first.
            } catch is WireError {
                continue
            } catch {
                return .lost
            }
            if let call = calls.first(where: daemon.connection.hasAnswer) { return .answered(call) }
            let timeout = deadline.map { Readiness.now.duration(to: $0) }
            if let timeout, timeout <= .zero { return .timeUp }
            let ready = Readiness.wait(for: descriptors + [daemon.connection.descriptor], timeout: timeout)
            if let occurrence = interruption(ready) { return occurrence }
        }
    }

    /// The occurrences for a command that only waits.
    enum Wakening {
        case event(EventMessage)
        /// Events were lost, with the connection or because there were too many: the state of what the command waits
        /// for has to be read again.
        case stale
        case timeUp
    }

    /// The next event, for a command that only waits. It suspends the process at SIGTSTP and connects again to a daemon
    /// that was restarted.
    /// - Throws: `interrupted` at a signal that ends a command.
    mutating func nextEvent(
        until deadline: ContinuousClock.Instant?, interrupted: CommandFailure
    ) throws(CommandFailure) -> Wakening {
        let endings = SignalPipe.endSignals
        while true {
            switch next(until: deadline) {
            case .event(let event, _): return event.type == .known(.overflow) ? .stale : .event(event)
            case .lost:
                if let caught = try reconnect(until: Readiness.now + Self.patience), !caught.isDisjoint(with: endings) {
                    throw interrupted
                }
                return .stale
            case .signals(let caught):
                if !caught.isDisjoint(with: endings) { throw interrupted }
                if caught.contains(SIGTSTP) { SignalPipe.suspendProcess() }
            case .keys, .answered: break
            case .timeUp: return .timeUp
            }
        }
    }

    /// Returns the next signal or key while the daemon is not connected.
    func nextWithoutDaemon(until deadline: ContinuousClock.Instant) -> Occurrence {
        interruption(Readiness.wait(for: descriptors, timeout: Readiness.now.duration(to: deadline))) ?? .timeUp
    }

    /// Connects again as soon as the daemon answers; never to another one, which would have other tasks.
    /// - Parameter end: the time at which it stops trying.
    /// - Returns: nil once connected, else the signals that arrived meanwhile.
    mutating func reconnect(until end: ContinuousClock.Instant) throws(CommandFailure) -> Set<Int32>? {
        let (path, place) = (daemon.connection.path, daemon.place)
        while true {
            do throws(CommandFailure) {
                daemon = try DaemonSession.open(place, interruption: signals?.descriptor, error: .discarding)
                return nil
            } catch {
                guard Readiness.now < end else {
                    let reason = "the daemon went away and did not come back on \(SafeText.sanitised(path))"
                    throw CommandFailure(.noDaemon, "\(reason); unfinished transfers continue when it is started again")
                }
            }
            let ready = Readiness.wait(for: descriptors, timeout: Self.retryInterval)
            if case .signals(let caught)? = interruption(ready), !caught.isDisjoint(with: SignalPipe.endSignals) {
                return caught
            }
        }
    }

    private var descriptors: [Int32] { [signals?.descriptor, keyboard].compactMap(\.self) }

    private func interruption(_ ready: Set<Int32>) -> Occurrence? {
        if let signals, ready.contains(signals.descriptor) {
            let caught = signals.drain()
            if !caught.isEmpty { return .signals(caught) }
        }
        if let keyboard, ready.contains(keyboard) {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(keyboard, &bytes, bytes.count)
            return .keys(Array(bytes[..<max(0, count)]))
        }
        return nil
    }
}
