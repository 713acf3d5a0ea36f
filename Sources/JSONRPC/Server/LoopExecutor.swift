import NIOConcurrencyHelpers
import NIOCore

/// Runs Swift code on an event loop, so that a brief request is answered on the thread that read it: waking another
/// thread and being woken by it again costs more than such a request itself.
///
/// After `end` jobs go to Swift's global executor. A job that is never run would keep its task waiting for ever, and
/// with it an actor that it was about to leave.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop
    private let hasEnded = NIOLockedValueBox(false)

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = hasEnded.withLockedValue { hasEnded in
            if hasEnded { return false }
            loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            return true
        }
        if !isTaken { globalConcurrentExecutor.enqueue(job) }
    }

    /// Call it before the loop is shut down; when it returns, the loop has run all its jobs.
    func end() async {
        hasEnded.withLockedValue { $0 = true }
        try? await loop.submit {}.get()
    }
}
