/// The number of edits between two words.
public enum EditDistance {
    /// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other (optimal string
    /// alignment).
    public static func between<Letter: Equatable>(_ left: [Letter], _ right: [Letter]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for (row, a) in left.enumerated() {
            var current = [row + 1]
            for (column, b) in right.enumerated() {
                var best = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (a == b ? 0 : 1))
                if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
                    best = min(best, beforePrevious[column - 1] + 1)
                }
                current.append(best)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count]
    }
}

extension Collection where Element == String {
    /// The element that a person most likely meant by `name`: at most two edits away, and fewer than half of its
    /// letters.
    public func closest(to name: String) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let candidates = map { (name: $0, distance: EditDistance.between(Array($0.utf8), Array(name.utf8))) }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= 2 && best.distance * 2 < Swift.max(name.utf8.count, 2) ? best.name : nil
    }
}
