import XferSystem

/// A thread that performs one kind of work on request, and otherwise sleeps without waking up. One such thread commits,
/// another moves the log.
///
/// On GRDB's queue each commit would run on any of libdispatch's threads, with cold caches of memory and processor, and
/// a single write would wait for that.
final class StoreThread: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `hasChanged` is locked.
    private let hasChanged = ThreadCondition()
    private let work: @Sendable () -> Void
    private var isRequested = false
    private var isWorking = false
    /// The thread may end when it has finished the requested work.
    private var mayEnd = false
    private var hasEnded = false

    /// - Parameter name: the thread's name in ps(1).
    /// - Throws: `StoreError.cannotOpen` when the system cannot create a thread.
    init(_ name: String, path: String, _ work: @escaping @Sendable () -> Void) throws(StoreError) {
        self.work = work
        do throws(ThreadError) {
            try BackgroundThread.start(name) { [self] in run() }
        } catch {
            throw .cannotOpen(path: path, reason: "\(error)")
        }
    }

    /// Requests the work. If it is in progress, it is done again.
    func request() { change { isRequested = true } }

    /// Returns when the work requested before is done. Must not be called within the work.
    func await() {
        hasChanged.lock()
        while (isRequested || isWorking) && !hasEnded { hasChanged.wait() }
        hasChanged.unlock()
    }

    /// Ends the thread once it has finished the requested work.
    func end() { change { mayEnd = true } }

    /// Does the same as `end`, and returns when the thread has ended. Must not be called within the work.
    func finish() {
        end()
        hasChanged.lock()
        while !hasEnded { hasChanged.wait() }
        hasChanged.unlock()
    }

    private func change(_ body: () -> Void) {
        hasChanged.lock()
        body()
        hasChanged.unlock()
        hasChanged.broadcast()
    }

    private func run() {
        while awaitWork() {
            work()
            change { isWorking = false }
        }
        change { hasEnded = true }
    }

    private func awaitWork() -> Bool {
        hasChanged.lock()
        defer { hasChanged.unlock() }
        while !isRequested {
            if mayEnd { return false }
            hasChanged.wait()
        }
        isRequested = false
        isWorking = true
        return true
    }
}
