/// How far two words are apart, in edits.
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
