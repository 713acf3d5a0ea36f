import Metrics
import XferModel

/// The service's counters for its operators (`GET /metrics`).
struct ServiceMetrics: Sendable {
    private let added: Counter
    private let received: Counter
    private let sent: Counter
    private let running: Gauge
    private let retries: Counter
    private let ended: [TaskState: Counter]

    init(factory: any MetricsFactory = MetricsSystem.factory) {
        added = Counter(label: "xferd_tasks_added", factory: factory)
        received = Counter(label: "xferd_received_bytes", factory: factory)
        sent = Counter(label: "xferd_sent_bytes", factory: factory)
        running = Gauge(label: "xferd_running_transfers", factory: factory)
        retries = Counter(label: "xferd_retries", factory: factory)
        ended = Dictionary(
            uniqueKeysWithValues: [TaskState.completed, .failed, .cancelled].map { state in
                (state, Counter(label: "xferd_tasks_ended", dimensions: [("state", state.rawValue)], factory: factory))
            })
    }

    func onRunning(_ count: Int) { running.record(count) }

    /// Counts committed events. Runs report bytes to `onTraffic` during the transfer.
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

    func onTraffic(_ traffic: Traffic) {
        if traffic.received > 0 { received.increment(by: traffic.received) }
        if traffic.sent > 0 { sent.increment(by: traffic.sent) }
    }
}
