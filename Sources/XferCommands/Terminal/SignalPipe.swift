import Glibc

/// Turns signals into bytes on a pipe, so that one `poll(2)` can wait for signals, a socket and a keyboard.
///
/// One at a time in a process, made by the verb that waits. The signals that end a command lose their handler after the
/// first arrival: a second Ctrl-C ends a process that hangs.
struct SignalPipe: Sendable {
    /// The descriptor, readable when a signal has arrived.
    let descriptor: Int32
    /// The signals whose effect was changed.
    private let caught: [Int32]

    /// Creates the pipe. Returns nil when that fails, in which case signals keep their usual effect.
    init?(catching signals: [Int32]) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        signalPipeWriteEnd = ends[1]
        // nohup(1) has the program ignore the end of its terminal.
        caught = signals.filter { $0 != SIGHUP || !Self.isIgnoring($0) }
        for signal in caught {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = forwardSignal
            let once = Self.endSignals.contains(signal) ? Int32(bitPattern: SA_RESETHAND) : 0
            action.sa_flags = SA_RESTART | once
            sigaction(signal, &action, nil)
        }
    }

    /// The signals that end a command in order: Ctrl-C, kill(1), and the end of its terminal.
    static let endSignals = [SIGINT, SIGTERM, SIGHUP]

    /// The signals for a live display: the end, another size, Ctrl-Z.
    static let displaySignals = endSignals + [SIGWINCH, SIGTSTP]

    /// The signals for a program on the alternate screen: also Ctrl-\, and its continuation after another process
    /// stopped it.
    static let fullScreenSignals = displaySignals + [SIGQUIT, SIGCONT]

    private static func isIgnoring(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        let ignore = unsafeBitCast(SIG_IGN, to: Int.self)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == ignore
    }

    /// Gives the signals their usual effect again and closes the pipe. Another one can be made then.
    func end() {
        for number in caught { signal(number, SIG_DFL) }
        close(descriptor)
        close(signalPipeWriteEnd)
        signalPipeWriteEnd = -1
    }

    /// Stops this process like Ctrl-Z without a handler; returns when the process continues.
    static func suspendProcess() { raise(SIGSTOP) }

    /// The signals that arrived since the last call.
    func drain() -> Set<Int32> {
        var bytes = [UInt8](repeating: 0, count: 64)
        var found: Set<Int32> = []
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return found }
            found.formUnion(bytes[..<count].map(Int32.init))
        }
    }
}

/// The descriptor to which the handler writes. Set before any handler is installed and never changed while one can run,
/// so that the handler only ever reads it.
nonisolated(unsafe) private var signalPipeWriteEnd: Int32 = -1

/// Forwards a signal. Async-signal-safe: one write(2), errno kept (signal-safety(7)).
private func forwardSignal(_ signal: Int32) {
    let savedErrno = errno
    var byte = UInt8(truncatingIfNeeded: signal)
    _ = write(signalPipeWriteEnd, &byte, 1)
    errno = savedErrno
}

/// Waits until one of several descriptors can be read, or the time has passed (poll(2)).
enum Readiness {
    /// Waits until a descriptor can be read.
    ///
    /// - Parameter timeout: nil waits without a limit.
    /// - Returns: the descriptors that can be read or were closed by the other side; empty when the time has passed or
    ///   a signal arrived.
    static func wait(for descriptors: [Int32], timeout: Duration?) -> Set<Int32> {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = timeout.map { span -> Int32 in
            let (seconds, attoseconds) = max(.zero, span).components
            // Rounded up, so that a deadline has passed when this returns.
            return Int32(
                clamping: min(seconds, 1_000_000) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        guard poll(&entries, nfds_t(entries.count), milliseconds ?? -1) > 0 else { return [] }
        return Set(entries.filter { $0.revents != 0 }.map(\.fd))
    }

    /// The present time of the clock that is used for waits.
    static var now: ContinuousClock.Instant { ContinuousClock().now }
}
