/// The rules of `promtool check metrics` that a text in Prometheus' format 0.0.4 has to follow.
public enum PrometheusLint {
    private struct Family {
        var type: String?
        var hasHelp = false
        var isReported = false
    }

    /// The problems that promtool would report, in the order of the lines; `NAME: PROBLEM` each.
    public static func problems(in text: String) -> [String] {
        var problems: [String] = []
        var families: [String: Family] = [:]
        var series: Set<String> = []
        if !text.hasSuffix("\n") { problems.append("the last line has no end") }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if words.first == "#", words.count > 3, words[1] == "HELP" || words[1] == "TYPE" {
                let name = words[2]
                if words[1] == "HELP" {
                    if families[name]?.hasHelp == true { problems.append("\(name): HELP twice") }
                    families[name, default: Family()].hasHelp = true
                } else {
                    if families[name]?.type != nil { problems.append("\(name): TYPE twice") }
                    families[name, default: Family()].type = words[3]
                }
                continue
            }
            guard !line.hasPrefix("#"), let end = line.lastIndex(of: " ") else { continue }
            let sample = String(line[..<end])
            let name = family(of: String(sample.prefix { $0 != "{" }), families)
            if !series.insert(sample).inserted { problems.append("\(name): a series twice") }
            let family = families[name] ?? Family()
            if !family.isReported { problems += self.problems(of: name, family, labels: sample.drop { $0 != "{" }) }
            families[name, default: family].isReported = true
        }
        return problems
    }

    /// Returns the family of a sample; a histogram's samples have longer names.
    private static func family(of name: String, _ families: [String: Family]) -> String {
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
            let base = String(name.dropLast(suffix.count))
            if families[base]?.type == "histogram" { return base }
        }
        return name
    }

    private static func problems(of name: String, _ family: Family, labels: Substring) -> [String] {
        var problems: [String] = []
        func check(_ isWrong: Bool, _ problem: String) {
            if isWrong { problems.append("\(name): \(problem)") }
        }
        check(family.type == nil, "no type")
        check(!family.hasHelp, "no help text")
        check(family.type == "counter" && !name.hasSuffix("_total"), "a counter without _total")
        check(
            family.type != nil && family.type != "counter" && name.hasSuffix("_total"),
            "not a counter, but ends in _total")
        check(
            family.type != "histogram" && ["_count", "_sum", "_bucket"].contains(where: name.hasSuffix),
            "ends as a histogram's sample does")
        check(name.contains { $0.isUppercase || $0 == ":" }, "not in snake_case")
        let units = ["s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "m", "h", "d"]
        check(name.split(separator: "_").contains { units.contains(String($0)) }, "an abbreviated unit")
        check(
            name.split(separator: "_").contains { ["counter", "gauge", "histogram"].contains($0) },
            "its type in the name")
        check(family.type != "histogram" && labels.contains("le=\""), "a label le")
        return problems
    }
}
