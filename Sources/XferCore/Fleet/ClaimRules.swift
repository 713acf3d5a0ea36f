/// Decides how many tasks a node claims.
///
/// PostgreSQL decides how many of them come from each lane: a decision here would keep lanes locked while the answer
/// travels, and for as long as this process hangs.
public enum ClaimRules {
    /// The highest number of tasks of one claim, so that each step is small.
    public static let most = 200
    /// The highest number of lanes from which one claim takes tasks.
    public static let lanes = 8

    /// The number of tasks that a node wants now.
    ///
    /// - Parameters:
    ///   - slots: tasks that the node runs at once.
    ///   - claimed: tasks that it has claimed and that have not ended.
    ///   - recentEnds: tasks that ended since the last claim. As many are claimed in advance, so that no slot is empty
    ///     until the next claim.
    public static func want(slots: Int, claimed: Int, recentEnds: Int, isDraining: Bool) -> Int {
        guard !isDraining else { return 0 }
        let free = max(slots, 0).subtractingReportingOverflow(max(claimed, 0)).partialValue
        let ahead = min(max(recentEnds, 0), most)
        return min(max(free, -most) + ahead, most).clamped(to: 0...most)
    }
}

extension Int {
    fileprivate func clamped(to range: ClosedRange<Int>) -> Int {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
