import Logging
import XferModel
import XferSystem

/// Writes one line to the log for each task that fails, up to `FailureLogLimit`.
///
/// A commit hands the events over and goes on: a log whose reader has stopped blocks its writer. If more failures wait than
/// `maxWaiting`, the oldest of them are left out; the event log has them all.
struct FailureLog: Sendable {
    private let continuation: AsyncStream<Event>.Continuation

    private static let maxWaiting = 1000

    init(_ logger: Logger) {
        let (events, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.maxWaiting))
        self.continuation = continuation
        Task {
            var limit = FailureLogLimit()
            for await event in events {
                let leftOut = limit.lastCount
                guard limit.admit(at: Clocks.monotonic()) else { continue }
                if limit.isNew, leftOut > 0 {
                    logger.notice("failures were left out of the log", metadata: ["count": "\(leftOut)"])
                }
                Self.write(event, logger)
                if limit.isUsedUp {
                    logger.notice(
                        "more failures are left out of the log for a minute: xferctl list --state failed shows all")
                }
            }
        }
    }

    func onCommit(_ events: [Event]) {
        for event in events {
            guard case .taskFailed = event.payload else { continue }
            continuation.yield(event)
        }
    }

    private static func write(_ event: Event, _ logger: Logger) {
        guard case .taskFailed(let error) = event.payload else { return }
        var metadata: Logger.Metadata = [
            "task": "\(event.taskID?.description ?? "")", "reason": "\(error.reason.rawValue)",
            "error": "\(error.message)",
        ]
        if let host = error.host { metadata["host"] = "\(host)" }
        logger.info("a task has failed", metadata: metadata)
    }
}

/// How many failures the log takes in a minute: a server that fails 100,000 tasks must not fill the disk.
struct FailureLogLimit {
    static let perWindow = 200
    static let window = Duration.seconds(60)

    private var beganAt: MonotonicInstant?
    private var admitted = 0
    /// Failures that this window has left out so far.
    private(set) var lastCount = 0
    /// Whether the last failure began a window.
    private(set) var isNew = false

    /// Whether the last failure was the window's last one.
    var isUsedUp: Bool { admitted == Self.perWindow && lastCount == 0 }

    /// Whether a failure is written.
    mutating func admit(at now: MonotonicInstant) -> Bool {
        isNew = beganAt.map { $0.duration(to: now) >= Self.window } ?? true
        if isNew {
            beganAt = now
            admitted = 0
            lastCount = 0
        }
        guard admitted < Self.perWindow else {
            lastCount += 1
            return false
        }
        admitted += 1
        return true
    }
}
