import CLinux
import Glibc
import XferSystem

/// A connection with a thread of its own, on which libpq blocks. Callers are served in order.
///
/// It connects with the first statement, and again after the connection was lost. While no connection can be made,
/// calls fail at once with the last error until the next attempt.
public final class PostgresConnection: Sendable {
    private let settings: PostgresSettings
    private let schedule = Locked(Schedule())
    private let wakeUp: WakeUp

    /// - Parameter name: the thread's name in ps(1).
    /// - Throws: `settings`, or `unreachable` if the system cannot create a thread.
    public init(_ settings: PostgresSettings, name: String) throws(PostgresError) {
        self.settings = settings
        let parameters = try PostgresParameters(settings)
        let wakeUp = try WakeUp()
        self.wakeUp = wakeUp
        do throws(ThreadError) {
            try BackgroundThread.start(name) { [schedule] in
                Self.run(PostgresSession(parameters, settings), schedule, wakeUp)
            }
        } catch {
            throw PostgresError(.unreachable, "\(error)")
        }
    }

    deinit { close() }

    /// Ends the connection after the present statement; waiting calls fail with `closed`.
    func close() {
        schedule.withLock { $0.isClosed = true }
        wakeUp.signal()
    }

    /// Runs one statement, which is a transaction of its own.
    ///
    /// If PostgreSQL aborted a statement in favour of another transaction (`isTransient`), it had no effect and is run
    /// again, up to five times.
    func execute(_ sql: String, _ parameters: [String?] = []) async throws(PostgresError) -> PostgresResult {
        try await perform { session throws(PostgresError) in
            try session.repeating { session throws(PostgresError) in try session.execute(sql, parameters) }
        }
    }

    /// Runs several statements as one transaction on the connection's thread. `body` must not wait for anything else,
    /// because its locks last until it ends. It runs again if `isTransient`.
    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresTransaction) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        try await perform { session throws(PostgresError) in
            try session.repeating { session throws(PostgresError) in try session.transaction(body) }
        }
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresSession) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let result: Result<Value, PostgresError> = await withCheckedContinuation { continuation in
            let refusal = enqueue { session in
                continuation.resume(returning: Result { () throws(PostgresError) in try body(session) })
            }
            if let refusal { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    private func enqueue(_ job: @escaping Schedule.Job) -> PostgresError? {
        let refusal: PostgresError? = schedule.withLock { schedule in
            if schedule.isClosed { return PostgresError(.closed, "the connection was closed") }
            guard schedule.jobs.count < settings.maxWaiting else {
                return PostgresError(.overloaded, "\(settings.maxWaiting) calls already wait for the database")
            }
            schedule.jobs.append(job)
            return nil
        }
        if refusal == nil { wakeUp.signal() }
        return refusal
    }

    // MARK: Without other threads

    /// Runs one statement at a time by CLOCK_MONOTONIC. Until then no other thread wakes up for it.
    ///
    /// - Parameters:
    ///   - due: when to send it. Another call replaces a statement that is not sent yet.
    ///   - then: gets the answer on the connection's thread, and must not block. Not called after `cancelTimed`.
    func execute(
        _ sql: String, _ parameters: [String?], at due: SuspendingClock.Instant,
        then: @escaping @Sendable (Result<PostgresResult, PostgresError>) -> Void
    ) {
        schedule.withLock { schedule in
            schedule.timed = (
                due,
                { session in
                    then(Result { () throws(PostgresError) in try session.execute(sql, parameters) })
                }
            )
        }
        wakeUp.signal(ifLaterThan: due)
    }

    /// Cancels the timed statement, if it is not sent yet.
    func cancelTimed() { schedule.withLock { $0.timed = nil } }

    /// Checks if there is work, and calls `ring` if so or if the database cannot be queried.
    ///
    /// After the first check the next one follows a NOTIFY on the channel. It follows after the interval instead if a
    /// pooler prevents the server from notifying this connection, or if the answer requires it. An answer without work
    /// wakes no other thread. Another call replaces the watch.
    func watch(_ watch: PostgresWatch) {
        schedule.withLock { $0.watch = (watch, .now) }
        wakeUp.signal()
    }

    /// Ends the watch. A check in progress may still call `ring`.
    func endWatch() { schedule.withLock { $0.watch = nil } }

    // MARK: The thread

    private static func run(_ session: PostgresSession, _ schedule: Locked<Schedule>, _ wakeUp: WakeUp) {
        while true {
            let now = SuspendingClock.now
            let (step, isClosed) = schedule.withLock { ($0.next(at: now), $0.isClosed) }
            if isClosed { session.close() }
            switch step {
            case .run(let job): job(session)
            case .check(let watch):
                let check = session.check(watch)
                if check == .found { watch.ring() }
                schedule.withLock { $0.looked(watch, check, at: .now) }
            case .sleep(let until, let isWatching, let isNotified):
                // A notification may have come with another answer, and with the connection it may have been lost.
                if isWatching, session.hasNotification() ?? isNotified {
                    schedule.withLock { $0.notified(at: now) }
                } else {
                    wakeUp.sleep(until: until, or: isWatching ? session.socket : nil)
                }
            case .end: return
            }
        }
    }
}

/// The next actions of a connection's thread.
private struct Schedule {
    typealias Job = @Sendable (PostgresSession) -> Void

    enum Step {
        case run(Job)
        case check(PostgresWatch)
        /// Sleeps; nil is without a limit. A watch with notifications has no time for its next check.
        case sleep(until: SuspendingClock.Instant?, isWatching: Bool, isNotified: Bool)
        case end
    }

    var jobs: [Job] = []
    var isClosed = false
    var timed: (due: SuspendingClock.Instant, job: Job)?
    /// The watch, with the time of the next check; nil waits for a notification.
    var watch: (watch: PostgresWatch, due: SuspendingClock.Instant?)?

    mutating func next(at now: SuspendingClock.Instant) -> Step {
        if !jobs.isEmpty { return .run(jobs.removeFirst()) }
        if isClosed { return .end }
        if let timed, timed.due <= now {
            self.timed = nil
            return .run(timed.job)
        }
        if let watch, let due = watch.due, due <= now { return .check(watch.watch) }
        return .sleep(
            until: [timed?.due, watch?.due].compactMap(\.self).min(), isWatching: watch != nil,
            isNotified: watch.map { $0.due == nil } ?? false)
    }

    /// Records a check of the watch. A watch that was replaced meanwhile is not affected.
    mutating func looked(_ looked: PostgresWatch, _ check: PostgresWatch.Check, at now: SuspendingClock.Instant) {
        guard let current = watch?.watch, current === looked else { return }
        watch?.due = check == .waiting ? nil : now.advanced(by: looked.interval)
    }

    mutating func notified(at now: SuspendingClock.Instant) { if watch != nil { watch?.due = now } }
}

/// Wakes a connection's thread: an eventfd(2).
private final class WakeUp: Sendable {
    private let descriptor: Int32
    /// The time until which the thread sleeps; nil while it is awake, or sleeps without a limit.
    private let sleepsUntil = Locked<SuspendingClock.Instant?>(nil)

    init() throws(PostgresError) {
        descriptor = xfer_eventfd_create()
        guard descriptor >= 0 else {
            throw PostgresError(.unreachable, "eventfd: " + String(cString: strerror(errno)))
        }
    }

    deinit { close(descriptor) }

    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Wakes the thread unless it wakes up before that time anyway.
    func signal(ifLaterThan due: SuspendingClock.Instant) {
        if sleepsUntil.withLock({ $0.map { $0 > due } ?? true }) { signal() }
    }

    /// Sleeps until a signal, a time, or something to read.
    func sleep(until deadline: SuspendingClock.Instant?, or socket: Int32?) {
        sleepsUntil.withLock { $0 = deadline }
        defer { sleepsUntil.withLock { $0 = nil } }
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let socket { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
        // Rounded up: a thread that wakes too early sleeps again.
        let milliseconds = deadline.map { deadline in
            let left = min(max(.zero, SuspendingClock.now.duration(to: deadline)), .seconds(86_400)).components
            return Int32(clamping: left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
        }
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1) > 0 else { return }
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
