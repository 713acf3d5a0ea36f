import XferThreads

/// A thread that does one thing when it is asked to, and otherwise sleeps without ever waking up by itself: one commits,
/// another moves the log.
///
/// Left to GRDB's queue, each commit would be some other thread's of libdispatch's, with another one's cache of memory and
/// a cold processor: a single write waits for all that.
final class StoreThread: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `hasChanged` is locked.
    private let hasChanged = ThreadCondition()
    private let work: @Sendable () -> Void
    private var isAsked = false
    private var isWorking = false
    /// It may go when it has done what it was asked.
    private var mayEnd = false
    private var hasEnded = false

    /// - Parameter name: as ps(1) shows it.
    /// - Throws: `StoreError.cannotOpen` when the system gives no thread.
    init(_ name: String, path: String, _ work: @escaping @Sendable () -> Void) throws(StoreError) {
        self.work = work
        do throws(ThreadError) {
            try BackgroundThread.start(name) { [self] in run() }
        } catch {
            throw .cannotOpen(path: path, reason: "\(error)")
        }
    }

    /// Has the work done; once more when it is being done already.
    func ask() { change { isAsked = true } }

    /// Returns when what was asked before is done. Not to be called in its work.
    func await() {
        hasChanged.lock()
        while (isAsked || isWorking) && !hasEnded { hasChanged.wait() }
        hasChanged.unlock()
    }

    /// Lets the thread go once it has done what it was asked.
    func end() { change { mayEnd = true } }

    /// As `end`, and returns when it has gone. Not to be called in its work.
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
        while !isAsked {
            if mayEnd { return false }
            hasChanged.wait()
        }
        isAsked = false
        isWorking = true
        return true
    }
}
