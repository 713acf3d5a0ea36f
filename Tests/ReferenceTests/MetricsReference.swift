import XferManager

/// `docs/reference/metrics.md`, from `Metric.all`.
enum MetricsReference {
    static var text: String {
        var output = title("Metrics") + introduction
        var table = MarkdownTable("metric", "kind", "unit", "labels", "meaning")
        for family in Metric.all.sorted(by: { $0.name < $1.name }) {
            table.rows.append([
                code(family.name), family.kind.rawValue, family.unit ?? "", labels(of: family),
                family.help + (family.isPrivate ? " Operators only." : ""),
            ])
        }
        output += table.text + "\n## Labels\n\n"
        var values = MarkdownTable("metric", "label", "values")
        for family in Metric.all.sorted(by: { $0.name < $1.name }) {
            for label in family.labels where label.values.count > 0 {
                values.rows.append([
                    code(family.name), code(label.name), label.values.map { code($0) }.joined(separator: ", "),
                ])
            }
        }
        return output + values.text
    }

    private static let introduction = """
        What `GET /metrics` answers. Counters begin at zero with each start. *Operators only*: the labels
        name what belongs to users, so the metric is shown over the Unix socket to operators, and over the
        network for a token with the scope `operate` or `metrics` of an operator's.

        The labels of a metric have so many values at most; what is beyond is counted in
        `xferd_metrics_refused_series_total`.


        """

    private static func labels(of family: MetricFamily) -> String {
        guard !family.labels.isEmpty else { return "" }
        return family.labels.map { code($0.name) }.joined(separator: ", ") + " (\(family.seriesLimit))"
    }
}
