import CoreMetrics
import NIOConcurrencyHelpers

/// The kind of a family of series, with Prometheus' names.
enum MetricKind: String, Sendable {
    case counter, gauge, histogram
}

/// The numbers of one series, for every kind of swift-metrics handler.
final class MetricCell: Sendable {
    /// Upper bounds of the histogram's buckets: 1 ms to 1 min, for what is timed here lies in between.
    static let bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]

    private struct Numbers {
        /// A counter's or gauge's value, or the sum of a histogram's observations.
        var value = 0.0
        /// Not cumulative; one more than there are bounds.
        var buckets: [Int64]
    }

    let name: String
    let labels: String
    private let kind: MetricKind
    private let numbers: NIOLockedValueBox<Numbers>

    init(kind: MetricKind, name: String, labels: String) {
        self.kind = kind
        self.name = name
        self.labels = labels
        let buckets = [Int64](repeating: 0, count: kind == .histogram ? Self.bounds.count + 1 : 0)
        numbers = NIOLockedValueBox(Numbers(buckets: buckets))
    }

    private func observe(_ value: Double) {
        guard kind == .histogram else { return set(value) }
        guard value.isFinite else { return }
        let bucket = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
        numbers.withLockedValue {
            $0.value += value
            $0.buckets[bucket] += 1
        }
    }

    func write(name: String, labels: String, to output: inout String) {
        let numbers = numbers.withLockedValue { $0 }
        guard kind == .histogram else {
            let braces = labels.isEmpty ? "" : "{\(labels)}"
            output += "\(name)\(braces) \(PrometheusText.number(numbers.value))\n"
            return
        }
        let separator = labels.isEmpty ? "" : ","
        var count: Int64 = 0
        for (index, bucket) in numbers.buckets.enumerated() {
            count += bucket
            let bound = index < Self.bounds.count ? PrometheusText.number(Self.bounds[index]) : "+Inf"
            output += "\(name)_bucket{\(labels)\(separator)le=\"\(bound)\"} \(count)\n"
        }
        let braces = labels.isEmpty ? "" : "{\(labels)}"
        output += "\(name)_sum\(braces) \(PrometheusText.number(numbers.value))\n\(name)_count\(braces) \(count)\n"
    }
}

extension MetricCell: CounterHandler, FloatingPointCounterHandler {
    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func reset() { numbers.withLockedValue { $0.value = 0 } }
}

extension MetricCell: MeterHandler {
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { numbers.withLockedValue { $0.value = value } }

    /// Also for counters, whose values never decrease.
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
