import Glibc

/// Runs blocking work (waiting for a process, reading a socket) on a thread of its own, never on Swift's few shared
/// ones.
public func offThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Result(catching: work)) }
    }
}

/// Starts a detached thread; it ends with `body`. Servers of tests run on such threads, because a loaded test run keeps
/// Swift's few shared threads busy for long.
public func startThread(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(ThreadBody(run: body))
    var thread = pthread_t()
    let failure = pthread_create(&thread, nil, threadMain, box.toOpaque())
    precondition(failure == 0, "pthread_create: \(String(cString: strerror(failure)))")
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

// A C entry point must not inherit the isolation of its caller: file scope, nonisolated.
private nonisolated func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
