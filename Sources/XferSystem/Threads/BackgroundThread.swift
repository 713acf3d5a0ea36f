import CCrash
import CLinux
import Glibc

/// A thread of this process that blocks signals. The main thread handles them, and a write to a closed socket has to
/// fail with EPIPE instead of raising SIGPIPE.
public enum BackgroundThread {
    /// Starts a detached thread, which ends with `body`.
    ///
    /// - Parameter name: the thread's name in ps(1); the system keeps 15 bytes (PR_SET_NAME, prctl(2)).
    /// - Throws: `ThreadError` if the system cannot create a thread (pthread_create(3)).
    public static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        var blocked = sigset_t()
        var former = sigset_t()
        sigfillset(&blocked)
        // Signals for faults of the thread itself stay unblocked: their handler reports the place of the fault and has
        // to run on this thread.
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP] { sigdelset(&blocked, fault) }
        // A new thread inherits the signal mask.
        pthread_sigmask(SIG_SETMASK, &blocked, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        let work = Unmanaged.passRetained(ThreadWork(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runBackgroundThread, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw ThreadError(code: code)
        }
        pthread_detach(thread)
    }
}

/// The system could not create a thread.
public struct ThreadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An errno, most often EAGAIN.
    public let code: Int32

    public var description: String { "no thread could be created: " + String(cString: strerror(code)) }
}

private final class ThreadWork: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// Runs a thread; its entry point, at file scope so that it inherits no isolation.
private nonisolated func runBackgroundThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let work = Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue()
    xfer_name_thread(work.name)
    FaultStack.prepare()
    work.body()
    return nil
}

/// The stack that a fatal signal's handler runs on, one per thread (sigaltstack(2)).
public enum FaultStack {
    /// Gives the calling thread an alternate signal stack if it has none. Call it on threads that libraries started;
    /// repeated calls are cheap.
    public static func prepare() { xfer_crash_prepare_thread() }
}
