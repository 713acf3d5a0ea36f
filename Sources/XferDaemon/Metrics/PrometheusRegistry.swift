public import CoreMetrics
import NIOConcurrencyHelpers

/// Keeps the metrics that swift-metrics records and writes them as Prometheus text for `GET /metrics`.
///
/// Names and labels are made valid, counters end in `_total`, timers are histograms in `_seconds`. The number of series
/// is bounded: new ones beyond it are only counted in `xferd_metrics_refused_series_total`.
public final class PrometheusRegistry: MetricsFactory {
    /// The content type of `render()`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private struct Series: Hashable {
        let name: String
        let labels: String
    }
    private struct Family {
        let kind: MetricKind
        var series: [String: MetricCell] = [:]
    }
    private struct State {
        var families: [String: Family] = [:]
        var seriesCount = 0
        var refusedSeries: Int64 = 0
    }

    private let state = NIOLockedValueBox(State())
    private let maxSeries: Int
    private let help: [String: String]

    /// - Parameters:
    ///   - maxSeries: combinations of name and labels that are kept.
    ///   - help: `# HELP` texts by the name that is written.
    public init(maxSeries: Int = 2000, help: [String: String] = [:]) {
        self.maxSeries = maxSeries
        self.help = help
    }

    /// Everything recorded so far, sorted by name and labels (Prometheus text exposition format 0.0.4).
    public func render() -> String {
        let (families, refused) = state.withLockedValue { ($0.families, $0.refusedSeries) }
        var output = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
            if let text = help[name] { output += "# HELP \(name) \(PrometheusText.helpText(text))\n" }
            output += "# TYPE \(name) \(family.kind.rawValue)\n"
            for (labels, cell) in family.series.sorted(by: { $0.key < $1.key }) {
                cell.write(name: name, labels: labels, to: &output)
            }
        }
        let refusedName = "xferd_metrics_refused_series_total"
        output += "# HELP \(refusedName) Series that were not kept, because there were too many.\n"
        output += "# TYPE \(refusedName) counter\n\(refusedName) \(refused)\n"
        return output
    }

    /// The cell of a series, made when it is new. It is not registered if there are too many series, or if the name
    /// belongs to another kind already.
    private func cell(
        _ label: String, suffix: String, _ dimensions: [(String, String)], _ kind: MetricKind
    ) -> MetricCell {
        let base = PrometheusText.metricName(label)
        let name = base.hasSuffix(suffix) ? base : base + suffix
        let labels = PrometheusText.labels(dimensions)
        return state.withLockedValue { state in
            var family = state.families[name] ?? Family(kind: kind)
            if family.kind == kind, let known = family.series[labels] { return known }
            let cell = MetricCell(kind: kind, name: name, labels: labels)
            guard family.kind == kind, state.seriesCount < maxSeries else {
                state.refusedSeries += 1
                return cell
            }
            family.series[labels] = cell
            state.families[name] = family
            state.seriesCount += 1
            return cell
        }
    }

    private func forget(_ handler: AnyObject) {
        guard let cell = handler as? MetricCell else { return }
        state.withLockedValue { state in
            guard state.families[cell.name]?.series[cell.labels] === cell else { return }
            state.families[cell.name]?.series[cell.labels] = nil
            state.seriesCount -= 1
        }
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        cell(label, suffix: "_total", dimensions, .counter)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        cell(label, suffix: "_total", dimensions, .counter)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        cell(label, suffix: "", dimensions, .gauge)
    }

    /// A recorder that does not aggregate is a gauge: it has the present value.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        cell(label, suffix: "", dimensions, aggregate ? .histogram : .gauge)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        cell(label, suffix: "_seconds", dimensions, .histogram)
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }
}

/// `# HELP` texts of the service's metrics, by the name that is written.
enum MetricHelp {
    static let texts = [
        "xferd_gateway_refusals_total": "Requests over the network that were refused before they were carried out.",
        "xferd_received_bytes_total": "Bytes of response bodies received, while they move.",
        "xferd_retries_total": "Failed tries that are followed by another one.",
        "xferd_running_transfers": "Transfers that run now.",
        "xferd_sent_bytes_total": "Bytes of request content sent, while they move.",
        "xferd_tasks_added_total": "Tasks added.",
        "xferd_tasks_ended_total": "Tasks that ended, by their state.",
    ]
}
