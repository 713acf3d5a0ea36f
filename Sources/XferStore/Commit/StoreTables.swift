/// The functions on one table of the store, or on a few that belong together.
///
/// A table is no more than a reference to its reader or transaction. It has the functions that change rows only where
/// `Store` is `StoreTransaction`. What takes several tables is an extension of `StoreTransaction`.
protocol StoreTable {
    associatedtype Store: StoreReader
    /// The reader or transaction in which the table is read.
    var store: Store { get }
}

extension StoreTable {
    var connection: Connection { store.connection }
}

/// Access to the store's tables: through a `StoreReader`, or through a `StoreTransaction` that can also change them.
public protocol StoreAccess: StoreReader {}

extension StoreReader: StoreAccess {}

extension StoreAccess {
    /// The tasks.
    public var tasks: TaskTable<Self> { TaskTable(store: self) }
    /// The lanes of queued tasks.
    public var queue: QueueTable<Self> { QueueTable(store: self) }
    /// The numbers of tasks.
    public var counts: CountTable<Self> { CountTable(store: self) }
    /// The waits of tasks.
    public var waits: WaitTable<Self> { WaitTable(store: self) }
    /// The hosts that cool down.
    public var cooldowns: CooldownTable<Self> { CooldownTable(store: self) }
    /// The start conditions of tasks.
    public var conditions: ConditionTable<Self> { ConditionTable(store: self) }
    /// The dependencies between tasks.
    public var dependencies: DependencyTable<Self> { DependencyTable(store: self) }
    /// The transfers.
    public var transfers: TransferTable<Self> { TransferTable(store: self) }
    /// The abandoned uploads.
    public var abandonedUploads: AbandonedUploadTable<Self> { AbandonedUploadTable(store: self) }
    /// The publish intents of brief runs.
    public var briefIntents: BriefIntentTable<Self> { BriefIntentTable(store: self) }
    /// The published files.
    public var publishedFiles: PublishedFileTable<Self> { PublishedFileTable(store: self) }
    /// The complete files without a final name.
    public var readyFiles: ReadyFileTable<Self> { ReadyFileTable(store: self) }
    /// The reserved names.
    public var reservations: ReservationTable<Self> { ReservationTable(store: self) }
    /// The content of requests.
    public var bodies: BodyTable<Self> { BodyTable(store: self) }
    /// The files that tasks send from the spool directory.
    public var spool: SpoolTable<Self> { SpoolTable(store: self) }
    /// The responses of requests.
    public var results: ResultTable<Self> { ResultTable(store: self) }
    /// The sizes of stored data.
    public var storedBytes: StoredBytesTable<Self> { StoredBytesTable(store: self) }
    /// The crashes while tasks were in flight.
    public var crashes: CrashTable<Self> { CrashTable(store: self) }
    /// The events.
    public var events: EventTable<Self> { EventTable(store: self) }
    /// The deliveries to webhooks.
    public var deliveries: DeliveryTable<Self> { DeliveryTable(store: self) }
    /// The hooks that have to run.
    public var hooks: HookTable<Self> { HookTable(store: self) }
    /// The batches.
    public var batches: BatchTable<Self> { BatchTable(store: self) }
    /// The groups.
    public var groups: GroupTable<Self> { GroupTable(store: self) }
    /// The operations on many tasks.
    public var operations: OperationTable<Self> { OperationTable(store: self) }
    /// The cached responses.
    public var cache: CacheTable<Self> { CacheTable(store: self) }
    /// The permanently failed URLs.
    public var failedURLs: FailedURLTable<Self> { FailedURLTable(store: self) }
    /// The trust policies.
    public var policies: PolicyTable<Self> { PolicyTable(store: self) }
    /// The profiles.
    public var profiles: ProfileTable<Self> { ProfileTable(store: self) }
    /// The cookies of profiles.
    public var cookies: CookieTable<Self> { CookieTable(store: self) }
    /// The hosts that require TLS.
    public var secureHosts: SecureHostTable<Self> { SecureHostTable(store: self) }
    /// The settings.
    public var settings: SettingTable<Self> { SettingTable(store: self) }
    /// The tokens of clients.
    public var tokens: TokenTable<Self> { TokenTable(store: self) }
}
