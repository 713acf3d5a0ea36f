import XferModel

/// The spelling of Prometheus' text exposition format 0.0.4.
package enum PrometheusText {
    /// The line of a counter or gauge.
    package static func line(_ name: String, _ labels: String, _ value: Double) -> String {
        "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number(value))\n"
    }

    /// The lines of a histogram, whose buckets are cumulative.
    static func lines(_ name: String, _ labels: String, _ distribution: Distribution) -> String {
        var output = ""
        var count: Int64 = 0
        for (index, bucket) in distribution.counts.enumerated() {
            count = count.addingSaturated(bucket)
            let bound = index < distribution.bounds.count ? number(distribution.bounds[index]) : "+Inf"
            output += line("\(name)_bucket", labels + (labels.isEmpty ? "" : ",") + "le=\"\(bound)\"", Double(count))
        }
        return output + line("\(name)_sum", labels, distribution.sum) + line("\(name)_count", labels, Double(count))
    }

    /// `name="value",…` in the order of the names; of two equal names the first one is used.
    package static func labels(_ dimensions: [(String, String)]) -> String {
        var seen: Set<String> = []
        return dimensions.map { (name($0.0), $0.1) }
            .filter { seen.insert($0.0).inserted }
            .sorted { $0.0 < $1.0 }
            .map { "\($0.0)=\"\(labelValue($0.1))\"" }
            .joined(separator: ",")
    }

    /// Writes a number; whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return abs(value) < 1e15 ? Int64(exactly: value).map { "\($0)" } ?? "\(value)" : "\(value)"
    }

    /// Returns a help text with backslashes and line breaks escaped.
    static func helpText(_ text: String) -> String { escape(text, quotes: false) }

    private static func labelValue(_ text: String) -> String { escape(text, quotes: true) }

    private static func escape(_ text: String, quotes: Bool) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// `[a-zA-Z_][a-zA-Z0-9_]*`; everything else becomes `_`.
    private static func name(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
            let isDigit = ("0"..."9").contains(scalar)
            if isDigit, result.isEmpty { result += "_" }
            result += isLetter || isDigit ? String(scalar) : "_"
        }
        return result.isEmpty ? "_" : result
    }
}
