/// The totals of an engine's work since it was created.
public struct EngineFigures: Hashable, Sendable {
    /// Attempts that run.
    public var attemptCount: Int
    /// Requests that have ended.
    public var requestCount: Int64
    /// Connections that were made for them; the other requests used one that was there.
    public var connectionCount: Int64
    public var stalls: LoopStalls
}

/// Turns of the engine's loops that took so long that other transfers had to wait.
public struct LoopStalls: Hashable, Sendable {
    public var count: Int64 = 0
    public var length = Duration.zero
}

extension TransferEngine {
    /// The totals of the engine's work so far. Wakes no loop.
    public var figures: EngineFigures { shared.figures }
}
