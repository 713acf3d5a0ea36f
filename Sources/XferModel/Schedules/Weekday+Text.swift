/// Days of the week as people write them: `mon-fri,sun`.
extension Weekday {
    /// Reads days and ranges with commas between. A range may go over the weekend, as `sat-mon`. A day is the beginning
    /// of its English name, at least two letters: `mon`, `Mo`, `MONDAY`.
    ///
    /// Returns nil if a part is neither a day nor a range.
    public static func days(_ text: some StringProtocol) -> [Weekday]? {
        var days: [Weekday] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(ends.count), let first = index(ends[0]), let last = index(ends[ends.count - 1])
            else { return nil }
            days += first <= last ? allCases[first...last] : allCases[first...] + allCases[...last]
        }
        return days
    }

    /// The text of days in the order of the week, three or more in a row as a range.
    public static func text(_ days: [Weekday]) -> String {
        let days = Set(days)
        var parts: [String] = []
        var rest = allCases[...]
        while let first = rest.first {
            let run = rest.prefix { days.contains($0) }
            if let last = run.last, run.count > 2 {
                parts.append("\(first.rawValue)-\(last.rawValue)")
            } else {
                parts += run.map(\.rawValue)
            }
            rest = rest.dropFirst(max(1, run.count))
        }
        return parts.joined(separator: ",")
    }

    private static func index(_ text: some StringProtocol) -> Int? {
        let text = text.lowercased()
        guard text.utf8.count >= 2 else { return nil }
        return ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].firstIndex {
            $0.hasPrefix(text)
        }
    }
}
