/// The time during which no task of a host starts, and the answer that set it.
public struct HostCooldown: Hashable, Sendable {
    public var host: String
    public var until: Timestamp
    /// The cause, or nil for a cooldown that an earlier version set.
    public var cause: Cause?

    /// The answer that set a cooldown. The cooldown ends with it, unless another task waits because of an answer that
    /// would have set it, too: see `CooldownTable.expire`.
    public struct Cause: Hashable, Sendable {
        /// The task that got the answer.
        public var task: TaskID
        public var owner: Owner
        /// The URL without secrets, for people.
        public var url: String

        public init(task: TaskID, owner: Owner, url: String) {
            self.task = task
            self.owner = owner
            self.url = url
        }

        /// The answer to this task.
        public init(_ task: TransferTask) {
            self.init(
                task: task.id, owner: task.specification.owner, url: task.specification.request.url.description)
        }
    }

    public init(host: String, until: Timestamp, cause: Cause? = nil) {
        self.host = host
        self.until = until
        self.cause = cause
    }
}
