import XferModel

/// One loop of the engine: the actor that runs on it and gives access to its state.
actor EngineLoop {
    private nonisolated let loop: CurlLoop
    let core: EngineCore

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(index: Int, of shared: EngineShared) {
        loop = shared.loops[index]
        core = EngineCore(index: index, shared: shared)
        loop.attach(core)
    }

    func start(_ attempt: Attempt) -> AttemptHandle { core.start(attempt) }

    /// Nil when the attempt has ended.
    @discardableResult
    func withAttempt<Value: Sendable>(_ id: AttemptID, _ body: @Sendable (AttemptRun) -> Value) -> Value? {
        core.run(id).map(body)
    }

    /// The shared limits have changed.
    func onRateLimits() { core.onRateLimits() }

    func retireSessions(where isRetired: @Sendable (SessionSpec) -> Bool) { core.retireSessions(where: isRetired) }

    func shutdown() { core.shutdown() }

    /// How often the loop has woken up; the call itself wakes it once.
    var turns: Int { loop.turns }

    /// Whether the attempt's receiving is paused; nil after its end.
    func isPaused(_ id: AttemptID) -> Bool? { core.run(id)?.isReceivingPaused }
}
