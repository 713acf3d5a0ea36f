import Metrics
import NIOConcurrencyHelpers
import XferModel

/// The metrics that are counted when something happens. All others are read for each answer; see `ServiceFigures`.
struct ServiceMetrics: Sendable {
    private let added: Counter
    private let received: Counter
    private let sent: Counter
    private let retries: Counter
    private let clockSteps: Counter
    private let queueWait: Timer
    private let runDuration: Timer
    private let ended: [TaskState: Counter]
    private let failures: [FailureReason: Counter]
    private let hosts: RecentCounters

    init(factory: any MetricsFactory = MetricsSystem.factory) {
        added = Metric.tasksAdded.counter(factory: factory)
        received = Metric.receivedBytes.counter(factory: factory)
        sent = Metric.sentBytes.counter(factory: factory)
        retries = Metric.retries.counter(factory: factory)
        clockSteps = Metric.clockSteps.counter(factory: factory)
        queueWait = Metric.queueWait.timer(factory: factory)
        runDuration = Metric.runDuration.timer(factory: factory)
        // From the start on, since a series that begins with its first event shows no increase.
        ended = Dictionary(
            uniqueKeysWithValues: TaskState.allCases.filter(\.isTerminal).map {
                ($0, Metric.tasksEnded.counter($0.rawValue, factory: factory))
            })
        failures = Dictionary(
            uniqueKeysWithValues: FailureReason.allCases.map {
                ($0, Metric.taskFailures.counter($0.rawValue, factory: factory))
            })
        hosts = RecentCounters(Metric.hostFailures, limit: Metric.hostLimit, factory: factory)
    }

    /// Counts committed events. Runs report bytes to `onTraffic` during the transfer.
    func onCommit(_ events: [Event]) {
        for event in events {
            switch event.payload {
            case .taskCompleted: ended[.completed]?.increment()
            case .taskFailed(let error):
                ended[.failed]?.increment()
                failures[error.reason]?.increment()
                if let host = error.host { hosts.increment(host) }
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

    /// A task started for the first time.
    func onFirstStart(_ task: TransferTask) {
        guard let startedAt = task.startedAt else { return }
        queueWait.record(duration: max(.zero, task.createdAt.duration(to: startedAt)))
    }

    func onRunEnd(after duration: Duration) { runDuration.record(duration: duration) }

    func onClockSet() { clockSteps.increment() }
}

/// Counters of a family whose label's values come from outside: the counters that changed last are kept.
final class RecentCounters: Sendable {
    private struct State {
        var counters: [String: (counter: Counter, usedAt: Int64)] = [:]
        var turn: Int64 = 0
    }

    private let family: MetricFamily
    private let limit: Int
    private let factory: any MetricsFactory
    private let state = NIOLockedValueBox(State())

    init(_ family: MetricFamily, limit: Int, factory: any MetricsFactory) {
        self.family = family
        self.limit = limit
        self.factory = factory
    }

    func increment(_ value: String) {
        state.withLockedValue { state in
            state.turn &+= 1
            if let known = state.counters[value] {
                state.counters[value]?.usedAt = state.turn
                return known.counter.increment()
            }
            if state.counters.count >= limit,
                let oldest = state.counters.min(by: { $0.value.usedAt < $1.value.usedAt })
            {
                state.counters[oldest.key] = nil
                oldest.value.counter.destroy()
            }
            let counter = family.counter(value, factory: factory)
            counter.increment()
            state.counters[value] = (counter, state.turn)
        }
    }
}
