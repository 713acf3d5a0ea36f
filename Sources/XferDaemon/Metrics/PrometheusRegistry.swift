public import CoreMetrics
import NIOConcurrencyHelpers
public import XferManager

/// Keeps the metrics that swift-metrics records, and writes them with samples as Prometheus text for `GET /metrics`.
///
/// Only declared families are kept, and of each at most the declared number of series; further series are counted in
/// `Metric.refusedSeries`.
public final class PrometheusRegistry: MetricsFactory {
    /// The content type of `render()`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private struct State {
        /// The cells by family and labels.
        var cells: [String: [String: MetricCell]] = [:]
        var refusedSeries: Int64 = 0
    }

    private let state = NIOLockedValueBox(State())
    private let families: [String: MetricFamily]

    public init(families: [MetricFamily] = Metric.all) {
        self.families = Dictionary(families.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Writes everything recorded so far and these samples, sorted by name and labels (Prometheus text exposition
    /// format 0.0.4).
    ///
    /// - Parameter showsNames: true to include metrics whose labels are names of users' objects.
    public func render(_ samples: [MetricSample] = [], showsNames: Bool = true) -> String {
        let cells = state.withLockedValue(\.cells)
        var lines: [String: [String: String]] = [:]
        var refused: Int64 = 0
        for (name, series) in cells {
            for (labels, cell) in series { lines[name, default: [:]][labels] = cell.lines }
        }
        for sample in samples {
            let family = sample.family
            let labels = PrometheusText.labels(Array(zip(family.labels.map(\.name), sample.labels)))
            guard lines[family.name, default: [:]].count < family.seriesLimit || lines[family.name]?[labels] != nil
            else {
                refused += 1
                continue
            }
            lines[family.name, default: [:]][labels] =
                switch sample.value {
                case .number(let number): PrometheusText.line(family.name, labels, number)
                case .distribution(let distribution): PrometheusText.lines(family.name, labels, distribution)
                }
        }
        refused += state.withLockedValue { state in
            state.refusedSeries += refused
            return state.refusedSeries - refused
        }
        let refusal = Metric.refusedSeries
        lines[refusal.name] = ["": PrometheusText.line(refusal.name, "", Double(refused))]
        var output = ""
        for (name, series) in lines.sorted(by: { $0.key < $1.key }) where !series.isEmpty {
            guard let family = families[name] ?? (name == refusal.name ? refusal : nil),
                showsNames || !family.isPrivate
            else { continue }
            output += "# HELP \(name) \(PrometheusText.helpText(family.help))\n# TYPE \(name) \(family.kind.rawValue)\n"
            for (_, text) in series.sorted(by: { $0.key < $1.key }) { output += text }
        }
        return output
    }

    /// The cell of a series, made when it is new. It is not stored if it is not declared, or if there are too many.
    private func cell(_ name: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind) -> MetricCell {
        let labels = PrometheusText.labels(dimensions)
        return state.withLockedValue { state in
            guard let family = families[name], family.kind == kind,
                Set(family.labels.map(\.name)) == Set(dimensions.map(\.0))
            else {
                state.refusedSeries += 1
                return MetricCell(kind: kind, name: name, labels: labels, bounds: [])
            }
            if let known = state.cells[name]?[labels] { return known }
            let cell = MetricCell(kind: kind, name: name, labels: labels, bounds: family.bounds)
            guard state.cells[name, default: [:]].count < family.seriesLimit else {
                state.refusedSeries += 1
                return cell
            }
            state.cells[name, default: [:]][labels] = cell
            return cell
        }
    }

    private func forget(_ handler: AnyObject) {
        guard let cell = handler as? MetricCell else { return }
        state.withLockedValue { state in
            guard state.cells[cell.name]?[cell.labels] === cell else { return }
            state.cells[cell.name]?[cell.labels] = nil
        }
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        cell(label, dimensions, .counter)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        cell(label, dimensions, .counter)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        cell(label, dimensions, .gauge)
    }

    /// Makes a recorder. A recorder that does not aggregate is a gauge: it has the current value.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        cell(label, dimensions, aggregate ? .histogram : .gauge)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        cell(label, dimensions, .histogram)
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }
}
