import XferCore
import XferModel
import XferStore

/// The check of an invariant: it is never true for long that a task may start, a slot is free, and no pass is due.
/// Every change that allows a start (an end, a release, a change of the queue or of a limit) has to call `schedule`.
///
/// Daemons whose `InvariantChecks` are on make it: some seconds after the last pass they perform another one, and roll
/// it back. It uses the time of the last pass, so that it finds omissions, and not tasks that have become due since.
extension RunScheduler {
    private static var idleInterval: Duration { .seconds(5) }
    /// The number of tries in a row that have to find a task: the call of `schedule` may be on its way.
    private static let idleTries = 3

    /// The error that rolls back a pass that was tried.
    private struct TriedPass: Error, CustomStringConvertible {
        let first: TaskID?

        var description: String { "a pass was tried" }
    }

    /// Begins the check, unless one is in progress.
    func checkIdleness() {
        // In a process of tests it would end other tests.
        guard InvariantChecks.areOn, settings.recordsCrashes, timers.idleCheck == nil else { return }
        timers.idleCheck = Task {
            if let task = await missedTask() {
                InvariantChecks.require(false, "task \(task) may start, a slot is free, and no pass is due")
            }
            timers.idleCheck = nil
        }
    }

    /// Waits until the scheduler is idle. Returns a task that may start then, and that no pass is going to start.
    private func missedTask() async -> TaskID? {
        var (pass, count) = (passes.count, 0)
        while true {
            try? await Task.sleep(for: Self.idleInterval, clock: .continuous)
            guard !Task.isCancelled, !isHeld else { return nil }
            guard !passes.isRunning, passes.count == pass, briefs.runs.isEmpty else {
                (pass, count) = (passes.count, 0)
                continue
            }
            guard let task = try? await startableTask() else { return nil }
            count = passes.count == pass ? count + 1 : 0
            if count == Self.idleTries { return task }
        }
    }

    /// The first task that a pass would start.
    func startableTask() async throws -> TaskID? {
        let pass = schedulingPass(settings, InFlightTasks())
        do {
            try await store.write { [pass] tx in
                var pass = pass
                try pass.startAll(in: tx)
                throw TriedPass(first: pass.starts.tasks.first?.task.id)
            }
        } catch let tried as TriedPass {
            return tried.first
        }
        return nil
    }
}
