import NIOCore

/// Runs a test server's Swift tasks on its event loop, so that tests that block Swift's own few threads (waiting for a
/// process, reading a socket) do not stop the server they talk to.
final class ServerExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
