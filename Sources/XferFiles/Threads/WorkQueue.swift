import XferThreads

/// The queue of a `BlockingPool`: closures, and the threads that run them.
final class WorkQueue: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `hasWork` is locked.
    private let hasWork = ThreadCondition()
    private let threadName: String
    private let threadLimit: Int
    private var threadCount = 0
    private var idleCount = 0
    private var isEnding = false
    private var incoming: [@Sendable () -> Void] = []
    /// Reversed, the next one last.
    private var outgoing: [@Sendable () -> Void] = []

    init(threadName: String, threadCount: Int) {
        self.threadName = threadName
        threadLimit = threadCount
    }

    func add(_ work: @escaping @Sendable () -> Void) {
        hasWork.lock()
        incoming.append(work)
        if idleCount < incoming.count + outgoing.count, threadCount < threadLimit, startThread() { threadCount += 1 }
        // Without any thread (the system gives none) the caller would wait for ever.
        let isStranded = threadCount == 0
        if isStranded { _ = removeNext() }
        let isUseful = idleCount > 0
        hasWork.unlock()
        if isUseful { hasWork.signal() }
        if isStranded { work() }
    }

    /// Ends the threads once all work is done.
    func end() {
        hasWork.lock()
        isEnding = true
        hasWork.unlock()
        hasWork.broadcast()
    }

    /// The loop of a thread.
    private func work() {
        hasWork.lock()
        while true {
            if let next = removeNext() {
                hasWork.unlock()
                next()
                hasWork.lock()
            } else if isEnding {
                break
            } else {
                idleCount += 1
                hasWork.wait()
                idleCount -= 1
            }
        }
        threadCount -= 1
        hasWork.unlock()
    }

    private func removeNext() -> (@Sendable () -> Void)? {
        if outgoing.isEmpty {
            outgoing = incoming.reversed()
            incoming.removeAll(keepingCapacity: true)
        }
        return outgoing.popLast()
    }

    private func startThread() -> Bool {
        do throws(ThreadError) {
            try BackgroundThread.start(threadName) { [self] in work() }
            return true
        } catch {
            return false
        }
    }
}
