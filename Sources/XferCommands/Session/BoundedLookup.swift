import Glibc
import XferSystem

/// Lookups in the file system that may block for ever: on a network mount without a server stat(2) does not return.
enum BoundedLookup {
    /// The longest time that a command waits for a lookup which it can do without.
    static let limit = Duration.seconds(2)

    /// Runs the work on a thread of its own.
    ///
    /// - Parameter work: gets a function that is true when its result is not awaited any more.
    /// - Returns: its result; nil if the time has passed, or without a thread. A blocked thread ends with the process.
    static func run<Value: Sendable>(
        within limit: Duration = limit, _ work: @escaping @Sendable (_ isAbandoned: () -> Bool) -> Value
    ) -> Value? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (awaited, signalled) = (ends[0], ends[1])
        defer { close(awaited) }
        let state = Locked(State<Value>.awaited)
        do {
            try BackgroundThread.start("lookup") {
                let value = work { state.withLock { $0.isAbandoned } }
                state.withLock { if !$0.isAbandoned { $0 = .found(value) } }
                // The other end reads the end of the pipe.
                close(signalled)
            }
        } catch {
            close(signalled)
            return nil
        }
        let deadline = Readiness.now.advanced(by: limit)
        while Readiness.wait(for: [awaited], timeout: Readiness.now.duration(to: deadline)).isEmpty {
            // A signal ends a wait early, too.
            if Readiness.now >= deadline { break }
        }
        return state.withLock { state in
            if case .found(let value) = state { return value }
            state = .abandoned
            return nil
        }
    }

    private enum State<Value: Sendable>: Sendable {
        case awaited
        case abandoned
        case found(Value)

        var isAbandoned: Bool { if case .abandoned = self { true } else { false } }
    }
}
