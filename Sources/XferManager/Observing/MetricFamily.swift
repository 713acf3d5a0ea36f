public import Metrics
public import XferModel

/// The declaration of a metric: once, for `GET /metrics`, its reference and its bounds.
public struct MetricFamily: Hashable, Sendable {
    /// The kind, with Prometheus' names.
    public enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// A label and how many values it can have: each is a series that Prometheus keeps for long.
    public struct Label: Hashable, Sendable {
        public let name: String
        public let limit: Int
        /// All values, if they are known.
        public let values: [String]

        /// A label with these values.
        static func one(_ name: String, of values: [String]) -> Label {
            Label(name: name, limit: values.count, values: values)
        }

        /// A label with values from outside. The service shows at most `limit` of them.
        static func any(_ name: String, upTo limit: Int) -> Label { Label(name: name, limit: limit, values: []) }
    }

    /// The name in Prometheus, with the unit and `_total`.
    public let name: String
    public let kind: Kind
    public let help: String
    public let labels: [Label]
    /// The bounds of a histogram's buckets.
    public let bounds: [Double]
    /// True if its labels are names of users' objects. Then only operators see it.
    public let isPrivate: Bool

    init(
        _ kind: Kind, _ name: String, _ help: String, labels: [Label] = [], bounds: [Double] = [],
        isPrivate: Bool = false
    ) {
        self.kind = kind
        self.name = name
        self.help = help
        self.labels = labels
        self.bounds = bounds
        self.isPrivate = isPrivate
    }

    /// The highest number of series that are kept.
    public var seriesLimit: Int { labels.reduce(1) { $0 * $1.limit } }

    /// The unit at the end of the name; nil for numbers of things.
    public var unit: String? {
        let words = (name.hasSuffix("_total") ? String(name.dropLast(6)) : name).split(separator: "_")
        if words.suffix(3) == ["bytes", "per", "second"] { return "bytes per second" }
        return words.last.map(String.init).flatMap { ["bytes", "seconds"].contains($0) ? $0 : nil }
    }

    private func dimensions(_ values: [String]) -> [(String, String)] { Array(zip(labels.map(\.name), values)) }

    /// The counter of this family with these values of its labels.
    public func counter(_ values: String..., factory: any MetricsFactory) -> Counter {
        Counter(label: name, dimensions: dimensions(values), factory: factory)
    }

    /// The histogram of this family, which takes durations.
    func timer(factory: any MetricsFactory) -> Timer { Timer(label: name, dimensions: [], factory: factory) }

    /// Returns one series of this family with its current value.
    public func sample(_ value: Double, _ values: String...) -> MetricSample {
        MetricSample(family: self, labels: values, value: .number(value))
    }

    public func sample(_ value: Int64, _ values: String...) -> MetricSample {
        MetricSample(family: self, labels: values, value: .number(Double(value)))
    }

    /// Returns the sample of a gauge that is 1 or 0.
    func sample(_ value: Bool) -> MetricSample { sample(value ? 1.0 : 0.0) }

    public func sample(_ value: Distribution, _ values: String...) -> MetricSample {
        MetricSample(family: self, labels: values, value: .distribution(value))
    }
}

/// One series of a metric, read for one answer.
public struct MetricSample: Sendable {
    public enum Value: Sendable {
        case number(Double)
        case distribution(Distribution)
    }

    public let family: MetricFamily
    /// The values of the labels, in the order of the family's labels.
    public let labels: [String]
    public let value: Value
}
