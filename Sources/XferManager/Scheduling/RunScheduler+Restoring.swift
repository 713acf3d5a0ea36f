import XferCore
import XferModel
import XferStore

extension RunScheduler {
    /// Requeues tasks that are `running` in the database and have no run: after a crash, a clean stop or a time without
    /// storage. Returns how many. The caller holds starts meanwhile, so that no start is between its commit and its launch.
    func restoreRunning() async throws -> Int {
        await passEnded()
        var after: TaskID?
        var count = 0
        while true {
            let live = Set(runs.keys)
            let now = clock()
            let page = try await store.write { [after] tx in
                let tasks = try tx.tasks(inState: .running, after: after, limit: 500)
                for task in tasks where !live.contains(task.id) {
                    let canContinue = try !tx.mayHaveBegun(task)
                    try tx.transition(task, at: now) { $0.onRestore(at: now, canContinue: canContinue) }
                }
                return tasks.map(\.id)
            }
            count += page.count { !live.contains($0) }
            guard let last = page.last else { return count }
            after = last
        }
    }
}
