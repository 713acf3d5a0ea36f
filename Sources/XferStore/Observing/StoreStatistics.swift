import Glibc
public import XferModel

/// The totals of the store's work since it was opened, and its size.
public struct StoreStatistics: Hashable, Sendable {
    /// Seconds from the beginning of a transaction until its commit is durable.
    public var commitLatency = Distribution(bounds: [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5])
    /// Change-sets that were committed together.
    public var groupSize = Distribution(bounds: [1, 2, 5, 10, 50, 100, 500, 1000])
    /// The size of the database file in bytes.
    public var databaseBytes: Int64 = 0
    /// The size of the write-ahead log in bytes.
    public var logBytes: Int64 = 0
    /// The time since the log was moved into the database, or the store opened.
    public var checkpointAge = Duration.zero

    public init() {}
}

extension TaskStore {
    /// The totals of the store's work, and the present sizes of its files.
    public var statistics: StoreStatistics {
        var statistics = commits.statistics
        statistics.databaseBytes = Self.length(of: path)
        statistics.logBytes = Self.length(of: path + "-wal")
        return statistics
    }

    /// Returns the length in bytes; zero when there is no such file.
    private static func length(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(clamping: status.st_size) : 0
    }
}
