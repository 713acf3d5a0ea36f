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

    /// `XFER_JOBS`: the number of seeds that a property test over whole transfers tries at the same time; 4 in `make
    /// soak`, else 1. A seed spends half of its time waiting.
    public static let jobs =
        getenv("XFER_JOBS").flatMap { Int(String(cString: $0)) }.map { max(1, $0) } ?? (isSoak ? 4 : 1)

    /// The seeds of such a test in groups, which are its arguments: `XFER_SEEDS` of them from `XFER_SEED` (1) on.
    /// Without `XFER_SEEDS` there are `soak` in `make soak`, else `usual`, each a group of its own.
    public static func portions(usual: UInt64, soak: UInt64) -> [Range<UInt64>] {
        let first = number("XFER_SEED") ?? 1
        let count = number("XFER_SEEDS") ?? (isSoak ? soak : usual)
        return portions(from: first, count: count, size: count > usual ? 100 : 1)
    }

    static func portions(from first: UInt64, count: UInt64, size: UInt64) -> [Range<UInt64>] {
        stride(from: 0, to: count, by: UInt64.Stride(size)).map { first + $0..<first + min(count, $0 + size) }
    }

    private static func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }

    /// Calls `body` for each seed, for `jobs` of them at the same time. If it throws for some, the others are tried
    /// nevertheless, and `FailedSeeds` is thrown at the end.
    public static func forEach(
        _ seeds: Range<UInt64>, jobs: Int = Campaign.jobs, _ body: @escaping @Sendable (UInt64) async throws -> Void
    ) async throws {
        let failures = await withTaskGroup(of: String?.self) { group in
            var failures: [String] = []
            var left = seeds
            var running = 0
            while true {
                while running < jobs, let seed = left.popFirst() {
                    running += 1
                    group.addTask {
                        do {
                            try await body(seed)
                            return nil
                        } catch {
                            return "seed \(seed): \(error)"
                        }
                    }
                }
                guard let ended = await group.next() else { break }
                running -= 1
                if let failure = ended { failures.append(failure) }
            }
            return failures
        }
        if !failures.isEmpty { throw FailedSeeds(failures: failures) }
    }

    /// The seeds for which a campaign's body threw, with its errors.
    public struct FailedSeeds: Error, CustomStringConvertible {
        let failures: [String]

        public var description: String { failures.joined(separator: "\n") }
    }

    /// Lets a drawn time pass before a campaign kills a program or cuts a network.
    ///
    /// Such a moment has to lie between the events that the program reports, so time itself is the subject. What the
    /// test expects holds for every moment.
    public static func elapse(_ drawn: Duration) async throws { try await Task.sleep(for: drawn) }
}
