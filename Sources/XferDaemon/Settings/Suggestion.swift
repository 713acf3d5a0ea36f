/// "Did you mean": the known name nearest to an unknown one.
enum Suggestion {
    /// The message for an unknown key.
    static func unknown(_ name: String, among known: [String]) -> String {
        "unknown key" + (nearest(to: name, among: known).map { ", did you mean \($0)?" } ?? "")
    }

    /// The known name that takes the fewest edits, if they are at most a third of its length and at least one is allowed.
    static func nearest(to name: String, among known: [String]) -> String? {
        let ranked = known.map { (name: $0, distance: distance(name.lowercased(), $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.name.count / 3) ? best.name : nil
    }

    /// Levenshtein's distance with a transposition of neighbours as one edit (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let a = Array(left.unicodeScalars)
        let b = Array(right.unicodeScalars)
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                var cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, beforeLast[j - 2] + 1) }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
