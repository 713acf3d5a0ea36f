import CoreMetrics
import NIOConcurrencyHelpers
import XferManager
import XferModel

/// The numbers of one series, for every kind of swift-metrics handler.
final class MetricCell: Sendable {
    private struct Numbers {
        /// A counter's or gauge's.
        var value = 0.0
        /// A histogram's.
        var distribution: Distribution
    }

    let name: String
    let labels: String
    private let kind: MetricFamily.Kind
    private let numbers: NIOLockedValueBox<Numbers>

    init(kind: MetricFamily.Kind, name: String, labels: String, bounds: [Double]) {
        self.kind = kind
        self.name = name
        self.labels = labels
        numbers = NIOLockedValueBox(Numbers(distribution: Distribution(bounds: bounds)))
    }

    private func observe(_ value: Double) {
        guard kind == .histogram else { return set(value) }
        numbers.withLockedValue { $0.distribution.record(value) }
    }

    /// The series as text.
    var lines: String {
        let numbers = numbers.withLockedValue { $0 }
        return kind == .histogram
            ? PrometheusText.lines(name, labels, numbers.distribution)
            : PrometheusText.line(name, labels, numbers.value)
    }
}

extension MetricCell: CounterHandler, FloatingPointCounterHandler {
    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func reset() { numbers.withLockedValue { $0.value = 0 } }
}

extension MetricCell: MeterHandler {
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { numbers.withLockedValue { $0.value = value } }

    /// Increments the value, also for counters, whose values never decrease.
    func increment(by amount: Double) {
        guard kind != .counter || amount >= 0 else { return }
        numbers.withLockedValue { $0.value += amount }
    }

    func decrement(by amount: Double) { numbers.withLockedValue { $0.value -= amount } }
}

extension MetricCell: RecorderHandler {
    func record(_ value: Int64) { observe(Double(value)) }
    func record(_ value: Double) { observe(value) }
}

extension MetricCell: TimerHandler {
    func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
}
