public import XferModel

/// Decides how long a task waits for room on a file system.
///
/// While free space is known to be missing, only the file system is checked, and ever more rarely. A run follows only
/// when there seems to be room. If it lacks space all the same (a quota, an unknown length), the next one comes later.
public enum SpaceWaitRules {
    /// The longest time between two checks of the free space.
    public static let longestCheck = Duration.seconds(60)

    /// The failure of a run, with the number of those in a row; unchanged if it is not about space.
    ///
    /// - Parameter former: the failure that the task had before the run; nil if there was none, or progress since.
    public static func counted(_ error: TransferError, after former: TransferError?) -> TransferError {
        guard error.reason == .insufficientSpace else { return error }
        var failure = error
        var space = error.space ?? MissingSpace()
        let before = former?.reason == .insufficientSpace ? former?.space?.failures ?? 0 : 0
        space.failures = max(0, before).addingSaturated(1)
        space.checks = 0
        failure.space = space
        return failure
    }

    /// The time until the next check, or run, after a run that lacked space.
    public static func delay(afterRun space: MissingSpace?, _ policy: RetryPolicy) -> Duration {
        doubled(policy.probeInterval, (space?.failures ?? 1).subtractingSaturated(1), atMost: policy.cap)
    }

    /// The time until the next check after one that found no room.
    public static func delay(afterCheck space: MissingSpace, _ policy: RetryPolicy) -> Duration {
        doubled(policy.probeInterval, space.checks, atMost: longestCheck)
    }

    private static func doubled(_ base: Duration, _ doublings: Int, atMost longest: Duration) -> Duration {
        max(base, min(longest, base * (1 << min(max(doublings, 0), 20))))
    }
}
