import CLinux
import Glibc

/// A thread that lives as long as the process and takes no signals: those are for the main thread.
enum ServiceThread {
    /// - Parameter name: at most 15 characters, as shown by ps(1).
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        // A new thread inherits the mask.
        pthread_sigmask(SIG_SETMASK, &all, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        let work = Unmanaged.passRetained(ThreadWork(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runServiceThread, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw SystemError(call: "pthread_create", number: code)
        }
        pthread_detach(thread)
    }
}

private final class ThreadWork: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// Entry point of a thread, at file scope so that it inherits no isolation.
private nonisolated func runServiceThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let work = Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue()
    xfer_name_thread(work.name)
    work.body()
    return nil
}
