/// The latest counters of a running task. Not durable; may be coalesced, never queued.
public struct ProgressSnapshot: Hashable, Sendable {
    public var taskID: TaskID
    public var owner: Owner
    public var kind: TaskKind
    public var phase: TaskPhase
    /// The number of bytes of the representation that have been received so far, including those kept from earlier
    /// attempts.
    public var received: Int64
    /// The number of bytes of content sent so far, including those that the server kept from earlier attempts.
    public var sent: Int64
    /// Complete length of the received representation, for an upload of the sent content; nil while unknown.
    public var total: Int64?
    /// Bytes per second, smoothed over the last seconds.
    public var rate: Int64
    /// The number of requests that are under way: more than one only for a transfer in segments or parts.
    public var connections: Int

    public init(
        taskID: TaskID, owner: Owner, kind: TaskKind = .download, phase: TaskPhase, received: Int64, sent: Int64 = 0,
        total: Int64?, rate: Int64, connections: Int = 0
    ) {
        self.taskID = taskID
        self.owner = owner
        self.kind = kind
        self.phase = phase
        self.received = received
        self.sent = sent
        self.total = total
        self.rate = rate
        self.connections = connections
    }

    /// Seconds until the end at the present rate, nil while unknown.
    public var eta: Int64? {
        guard let total, rate > 0 else { return nil }
        return max(0, total.subtractingSaturated(kind == .upload ? sent : received)) / rate
    }
}
