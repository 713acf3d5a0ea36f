public import XferModel

/// The database's path, the store's callbacks and its limits.
public struct StoreConfiguration: Sendable {
    /// Path of `xferd.sqlite`; its directory exists.
    public var path: String
    /// Called on the writer's thread in the order of the commits, once they are durable and before their callers
    /// continue; the events are in the order of `seq`, never empty. Must be quick.
    public var onCommit: @Sendable ([Event]) -> Void
    /// Called on the writer's thread with the reason when the store becomes degraded, with nil when that ends.
    public var onDegradedChange: @Sendable (_ reason: String?) -> Void
    /// Called on the writer's thread when a commit recorded hooks that have to run. Must be quick.
    public var onPendingHooks: @Sendable () -> Void
    /// Called like `onPendingHooks`, when a commit recorded deliveries to webhooks.
    public var onPendingDeliveries: @Sendable () -> Void = {}
    public var texts: StoreTexts
    /// The longest time for which a `.gathered` change may wait for others.
    public var gatheringTime: Duration = .milliseconds(2)
    /// The pause between two probe commits while degraded.
    public var probeInterval: Duration = .seconds(5)
    /// True if each change-set is executed twice, and rolled back the first time. Tests find with it closures with
    /// effects outside the transaction.
    public var repeatsWrites = false
    /// The lengths of the log at which it is moved into the database.
    var logLimits = WALCheckpointPlan.Limits()

    public init(
        path: String, onCommit: @escaping @Sendable ([Event]) -> Void = { _ in },
        onDegradedChange: @escaping @Sendable (_ reason: String?) -> Void = { _ in },
        onPendingHooks: @escaping @Sendable () -> Void = {},
        texts: StoreTexts = StoreTexts()
    ) {
        self.path = path
        self.onCommit = onCommit
        self.onDegradedChange = onDegradedChange
        self.onPendingHooks = onPendingHooks
        self.texts = texts
    }
}

/// The texts that the store keeps for clients to read. They contain no secrets.
public struct StoreTexts: Sendable {
    /// Describes a task for its hooks.
    public var task: @Sendable (TransferTask) -> String
    /// An event as webhooks get it.
    public var event: @Sendable (Event) -> String

    public init(
        task: @escaping @Sendable (TransferTask) -> String = { "\($0.id)" },
        event: @escaping @Sendable (Event) -> String = { "\($0.seq)" }
    ) {
        self.task = task
        self.event = event
    }
}

/// The urgency of a write's commit.
public enum Urgency: Sendable {
    /// The write is part of the next commit, which starts at once if none is in progress.
    case immediate
    /// The write may wait `gatheringTime` for others: checkpoints and completions.
    case gathered
    /// Commits in a transaction of its own, in turns with other changes.
    case bulky

    /// The urgency for a write that changes this many rows.
    public static func rows(_ count: Int) -> Urgency { count > 50 ? .bulky : .immediate }
}
