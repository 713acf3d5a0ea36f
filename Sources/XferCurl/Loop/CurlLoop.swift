import CLinux
import Glibc
import NIOConcurrencyHelpers
import XferModel
import XferSystem

/// The engine's executor: one thread that waits in `epoll_wait` for libcurl's sockets, for the next deadline, and for
/// jobs from other threads. An idle loop never wakes up.
///
/// One turn: run the jobs that have arrived, let the client act on due deadlines and ready sockets, wait. The thread
/// starts with the first job and ends after `stop`; a later job starts it again for as long as there are jobs, so that
/// no caller waits without an end.
///
/// `@unchecked Sendable`: `inbox` has its own lock; `epoll` is only called (the kernel serialises) and `wakeUp` only
/// written to. `deadlines` and `client` are used on the loop's thread alone. There is at most one such thread at a
/// time, and `inbox`'s lock orders it with the next one.
final class CurlLoop: SerialExecutor, @unchecked Sendable {
    private struct Inbox {
        enum Thread {
            case none, awake, asleep
            /// Asleep without a deadline: only sockets and jobs can wake it.
            case resting
        }

        var thread = Thread.none
        var isStopping = false
        var jobs: [UnownedJob] = []
        /// A turn was requested without a job.
        var isCalled = false
        var stalls = LoopStalls()
    }

    /// The purpose of a deadline.
    enum DeadlineKey: Hashable {
        case session(UInt32)
        /// The time at which a session with many connections, all of them idle, is closed.
        case idleSession(UInt32)
        case attempt(UInt64)
        /// Turns under limits that attempts share.
        case rates
    }

    private let epoll: Epoll
    /// An eventfd, registered edge-triggered: it is never read.
    private let wakeUp: Int32
    private let inbox = NIOLockedValueBox(Inbox())
    var deadlines = DeadlineHeap<DeadlineKey>()
    private var client: (any LoopClient)?
    /// The number of times that `epoll_wait` returned; for the test that an idle loop sleeps.
    private(set) var turns = 0

    private static let wakeUpToken = UInt64.max
    /// The longest turn; a longer one is a stall: other transfers of the loop wait for it.
    private static let longestTurn = Duration.milliseconds(100)

    /// The clock for deadlines.
    let clock: @Sendable () -> MonotonicInstant

    init(clock: @escaping @Sendable () -> MonotonicInstant) throws(EngineStartError) {
        self.clock = clock
        epoll = try Epoll()
        wakeUp = xfer_eventfd_create()
        guard wakeUp >= 0 else { throw .system(call: "eventfd", errno: errno) }
        epoll.watch(wakeUp, mask: xfer_epoll_in | xfer_epoll_edge_triggered, token: Self.wakeUpToken)
    }

    deinit { close(wakeUp) }

    /// Sets the client that acts on sockets and deadlines. Call it before the first job.
    func attach(_ client: any LoopClient) { self.client = client }

    /// Ends the thread once its jobs are done, and releases the client.
    func stop() {
        preconditionOnLoop()
        client = nil
        inbox.withLockedValue { $0.isStopping = true }
    }

    // MARK: Executor

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = inbox.withLockedValue { inbox in
            inbox.jobs.append(job)
            defer { inbox.thread = .awake }
            return inbox.thread
        }
        switch thread {
        case .awake: break
        case .asleep, .resting: eventfd_write(wakeUp, 1)
        case .none: startThread()
        }
    }

    /// Requests a turn of the loop; from any thread. Without a running thread nothing waits for a turn.
    func wake() {
        let isAsleep = inbox.withLockedValue { inbox in
            guard inbox.thread != .none else { return false }
            inbox.isCalled = true
            defer { inbox.thread = .awake }
            return inbox.thread != .awake
        }
        if isAsleep { eventfd_write(wakeUp, 1) }
    }

    func checkIsolated() {
        precondition(isOnLoop, "expected to be on the engine's loop")
    }

    func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    var isOnLoop: Bool { LoopThread.current === self }

    func preconditionOnLoop() { precondition(isOnLoop, "a loop-confined value was touched on another thread") }

    private func startThread() {
        do throws(ThreadError) {
            try BackgroundThread.start("xfer-loop") { [self] in
                LoopThread.current = self
                run()
            }
        } catch {
            preconditionFailure("the engine's loop: \(error)")
        }
    }

    // MARK: The thread

    private func run() {
        var wokenAt = clock()
        while true {
            runJobs()
            client?.onTurn()
            guard let timeout = timeoutOrNilWhenDone() else { return }
            judgeTurn(since: wokenAt)
            var readyAt: MonotonicInstant?
            epoll.wait(milliseconds: timeout) { ready in
                readyAt = readyAt ?? clock()
                if ready.token != Self.wakeUpToken { client?.onReady(token: ready.token, mask: ready.mask) }
            }
            wokenAt = readyAt ?? clock()
            turns &+= 1
        }
    }

    private func judgeTurn(since wokenAt: MonotonicInstant) {
        let length = wokenAt.duration(to: clock())
        guard length > Self.longestTurn else { return }
        inbox.withLockedValue { inbox in
            inbox.stalls.count = inbox.stalls.count.addingSaturated(1)
            inbox.stalls.length += length
        }
    }

    /// The turns so far that took too long. From any thread.
    var stalls: LoopStalls { inbox.withLockedValue(\.stalls) }

    /// Runs one batch of jobs; later ones wait for the next turn, so that sockets are served, too.
    private func runJobs() {
        let jobs = inbox.withLockedValue { inbox in
            inbox.thread = .awake
            inbox.isCalled = false
            defer { inbox.jobs.removeAll() }
            return inbox.jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// The time to wait, in milliseconds rounded up; nil when the thread's work is done.
    private func timeoutOrNilWhenDone() -> Int32? {
        var timeout: Int32 = -1
        if let next = deadlines.earliest {
            let milliseconds = clock().duration(to: next).wholeMicroseconds.addingSaturated(999) / 1000
            timeout = Int32(clamping: max(0, milliseconds))
        }
        return inbox.withLockedValue { inbox in
            guard inbox.jobs.isEmpty, !inbox.isCalled else { return 0 }
            if inbox.isStopping {
                inbox.thread = .none
                return nil
            }
            if timeout != 0 { inbox.thread = timeout < 0 ? .resting : .asleep }
            return timeout
        }
    }

    /// True if the thread sleeps without a deadline, or was never started. The call does not wake it.
    var isResting: Bool { inbox.withLockedValue { $0.thread == .resting || $0.thread == .none } }

    // MARK: Sockets

    func watch(_ fd: Int32, mask: UInt32, token: UInt64) { epoll.watch(fd, mask: mask, token: token) }

    func forget(_ fd: Int32) { epoll.forget(fd) }
}

/// Handles the loop's sockets and deadlines; called on its thread only.
protocol LoopClient: AnyObject {
    func onReady(token: UInt64, mask: UInt32)
    /// Called once per turn, after the jobs and before waiting: the place for due deadlines.
    func onTurn()
}

/// The loop to which the calling thread belongs.
enum LoopThread {
    private static let loop = ThreadLocal<CurlLoop>()

    fileprivate(set) static var current: CurlLoop? {
        get { loop.current }
        set { loop.current = newValue }
    }
}
