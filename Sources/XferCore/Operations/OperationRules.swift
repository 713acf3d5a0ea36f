public import XferModel

/// Bounds of background operations.
public enum OperationRules {
    /// The highest number of operations of one user that have not ended.
    public static let mostRunning = 16
    /// The number of ended operations that are kept for each user.
    public static let mostEnded = 100
    /// The time for which an ended operation is kept.
    public static let keepEnded = Duration.seconds(604_800)
    /// The shortest time between two reports of progress.
    public static let reportInterval = Duration.seconds(1)

    /// True if progress is to be reported now. A clock that was set back does not silence an operation.
    public static func isReportDue(lastAt last: Timestamp?, now: Timestamp) -> Bool {
        guard let last else { return true }
        return now < last || last.duration(to: now) >= reportInterval
    }
}
