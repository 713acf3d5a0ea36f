public import XferModel

/// A group of tasks on the wire.
public struct GroupRecord: WireRecord, Hashable {
    public var name = ""
    public var owner = Owner(uid: 0)
    public var paused = false
    public var maxActive: Int?
    public var maxReceiveRate: Int64?
    public var maxSendRate: Int64?
    public var batch: BatchID?
    public var counts = StateCounts()

    public init() {}

    public init(_ group: TaskGroup) {
        name = group.key.name
        owner = group.key.owner
        paused = group.isPaused
        maxActive = group.limits.maxActive
        maxReceiveRate = group.limits.maxReceiveRate
        maxSendRate = group.limits.maxSendRate
        batch = group.batch
        counts = StateCounts(group.counts)
    }

    public static let summary = "A group: tasks that are paused, limited and counted together."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "The group's name; every owner has groups of its own."),
        .required("owner", \.owner, "The uid of the tasks' owner."),
        .required("paused", \.paused, "True if the group is paused."),
        .nullable(
            "max_active", \.maxActive,
            "Highest number of its transfers at once; null is no limit of its own."),
        .optional("max_recv_rate", \.maxReceiveRate, "Bytes per second its transfers may receive together."),
        .optional("max_send_rate", \.maxSendRate, "Bytes per second its transfers may send together."),
        .optional("batch", \.batch, "The batch it was made for."),
        .required("counts", \.counts, "Number of its tasks by state."),
    ]
}
