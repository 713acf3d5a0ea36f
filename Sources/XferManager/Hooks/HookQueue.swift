import Logging
import XferFiles
import XferModel
import XferStore

/// Runs hooks for tasks that have ended, each at least once: a row requests a run and is removed after it.
///
/// A hook that fails is not run again. One that a shutdown or crash interrupts is run again by the next daemon.
actor HookQueue {
    private let store: TaskStore
    private let runner: HookRunner
    private let logger: Logger
    /// The running hooks by the row's id.
    private var running: [Int64: (task: TaskID, stop: HookStop)] = [:]
    /// Hooks that have run and whose rows are not removed yet.
    private var finished: Set<Int64> = []
    /// Rows removed since the current read began, which may still return them.
    private var justForgotten: Set<Int64> = []
    private var isLooking = false
    private var wantsLooking = false
    private var isStopping = false
    private var endWaiters: [CheckedContinuation<Void, Never>] = []

    init(store: TaskStore, runner: HookRunner, logger: Logger) {
        self.store = store
        self.runner = runner
        self.logger = logger
    }

    /// Starts the hooks that may start. Call it after a commit that requests a run.
    func wake() async {
        wantsLooking = true
        guard !isLooking else { return }
        isLooking = true
        while wantsLooking, !isStopping {
            wantsLooking = false
            do {
                for id in finished { try await forget(id) }
                justForgotten = []
                for hook in try await store.read({ try $0.hooks.pending(limit: 64) }) { start(hook) }
            } catch {
                logger.report("pending hooks could not be read", error)
            }
        }
        isLooking = false
    }

    /// Stops running hooks and starts no others.
    func shutdown() async {
        isStopping = true
        for (_, stop) in running.values { stop.request() }
        guard !running.isEmpty else { return }
        await withCheckedContinuation { endWaiters.append($0) }
    }

    /// Starts a hook, unless the limit is reached or another hook of its task is running: a task's hooks run one at a
    /// time, in order.
    private func start(_ hook: PendingHook) {
        guard running.count < HookRunner.maxAtOnce, running[hook.id] == nil, !isStopping,
            !finished.contains(hook.id), !justForgotten.contains(hook.id),
            !running.values.contains(where: { $0.task == hook.taskID })
        else { return }
        let stop = HookStop()
        running[hook.id] = (hook.taskID, stop)
        Task {
            let occasion = HookRunner.Occasion(
                kind: hook.occasion, hook: hook.hook, task: hook.taskID, file: hook.path,
                name: hook.path?.split(separator: "/").last.map(String.init), description: hook.description)
            let report = await runner.run(occasion, stop: stop)
            await onEnd(hook, report)
        }
    }

    private func onEnd(_ hook: PendingHook, _ report: HookProcess.Report?) async {
        if report == nil {
            logger.warning(
                "a task's hook is no longer configured",
                metadata: ["hook": "\(hook.hook)", "task": "\(hook.taskID)"])
        }
        if report?.end != .stopped {
            finished.insert(hook.id)
            do {
                try await forget(hook.id)
            } catch {
                logger.report("a hook has run and may run again", error)
            }
        }
        running[hook.id] = nil
        if running.isEmpty {
            for waiter in endWaiters { waiter.resume() }
            endWaiters = []
        }
        await wake()
    }

    private func forget(_ id: Int64) async throws {
        try await store.write(.gathered) { try $0.hooks.remove(id) }
        finished.remove(id)
        if isLooking { justForgotten.insert(id) }
    }
}
