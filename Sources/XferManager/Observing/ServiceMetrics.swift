import Metrics
import XferModel

/// What the service counts for its operators (`GET /metrics`).
struct ServiceMetrics: Sendable {
    private let added = Counter(label: "xferd_tasks_added")
    private let received = Counter(label: "xferd_received_bytes")
    private let running = Gauge(label: "xferd_running_transfers")
    private let retries = Counter(label: "xferd_retries")
    private let ended = Dictionary(
        uniqueKeysWithValues: [TaskState.completed, .failed, .cancelled].map { state in
            (state, Counter(label: "xferd_tasks_ended", dimensions: [("state", state.rawValue)]))
        })

    func onRunning(_ count: Int) { running.record(count) }

    /// Durable events tell everything else; bytes come from the runs.
    func onCommit(_ events: [Event]) {
        for event in events {
            switch event.payload {
            case .taskCompleted: ended[.completed]?.increment()
            case .taskFailed: ended[.failed]?.increment()
            case .taskCancelled, .taskSuperseded: ended[.cancelled]?.increment()
            case .taskWaiting(let wait, _) where wait.reason == .retry: retries.increment()
            case .taskAdded: added.increment()
            default: break
            }
        }
    }

    func onReceived(_ bytes: Int64) { received.increment(by: bytes) }
}
