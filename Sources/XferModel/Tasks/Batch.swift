/// Identifies a batch. Never reused.
public struct BatchID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: BatchID, right: BatchID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// Tasks that were added together and are counted together. Class of origin: SDWebImagePrefetcher.
public struct Batch: Hashable, Sendable {
    public let id: BatchID
    public let owner: Owner
    /// The group its members are in; its limit is the batch's own concurrency.
    public let group: String
    /// Number of members it was added with; removed ones still count.
    public let total: Int64
    /// The number of members that have failed and were not retried since.
    public let skipped: Int64
    /// Members by state, without those that were removed.
    public let counts: [TaskState: Int64]
    public let createdAt: Timestamp
    /// The time at which the last member ended for the first time.
    public let completedAt: Timestamp?

    public init(
        id: BatchID, owner: Owner, group: String, total: Int64, skipped: Int64, counts: [TaskState: Int64],
        createdAt: Timestamp, completedAt: Timestamp?
    ) {
        self.id = id
        self.owner = owner
        self.group = group
        self.total = total
        self.skipped = skipped
        self.counts = counts
        self.createdAt = createdAt
        self.completedAt = completedAt
    }

    /// The number of members that have ended in any state: completed, failed, cancelled or superseded.
    public var finished: Int64 { total.subtractingSaturated(counts.filter { !$0.key.isTerminal }.values.saturatedSum) }
}
