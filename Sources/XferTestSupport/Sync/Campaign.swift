import Glibc

/// The sizes of campaigns, tests that repeat something many times with drawn moments or seeds.
///
/// `make test` runs a quarter of the rounds, `make soak` (`XFER_SOAK` in the environment) all of them. Fixed kill
/// points are no campaign: all of them always run.
public enum Campaign {
    /// True in `make soak`.
    public static let isSoak = getenv("XFER_SOAK") != nil

    /// `XFER_SOAK_FACTOR`: the factor for the number of seeds of a property test; 20 in `make soak`, else 1.
    public static let soakFactor =
        getenv("XFER_SOAK_FACTOR").flatMap { Int(String(cString: $0)) }.map { max(1, $0) } ?? (isSoak ? 20 : 1)

    /// The number of rounds to run of `whole`: all in `make soak`, else a quarter, rounded up.
    public static func rounds(_ whole: Int) -> Int { isSoak ? whole : (whole + 3) / 4 }

    /// Lets a drawn time pass before a campaign kills a program or cuts a network.
    ///
    /// Such a moment has to lie between the events that the program reports, so time itself is the subject. What the
    /// test expects holds for every moment.
    public static func elapse(_ drawn: Duration) async throws { try await Task.sleep(for: drawn) }
}
