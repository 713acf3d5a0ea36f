import Logging
import XferModel

/// Writes one line to the log for each task that fails.
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
        Task { for await event in events { Self.write(event, logger) } }
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
