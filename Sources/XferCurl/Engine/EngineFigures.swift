/// The totals of an engine's work since it was created.
public struct EngineFigures: Hashable, Sendable {
    /// The number of attempts that run.
    public var attemptCount: Int
    /// The number of requests that have ended.
    public var requestCount: Int64
    /// The number of connections that were made for them; the other requests used existing ones.
    public var connectionCount: Int64
    public var stalls: LoopStalls
}

/// The number and duration of turns of the engine's loops that were so long that other transfers had to wait.
public struct LoopStalls: Hashable, Sendable {
    public var count: Int64 = 0
    public var length = Duration.zero
}

extension TransferEngine {
    /// The totals of the engine's work so far. Wakes no loop.
    public var figures: EngineFigures { shared.figures }
}
