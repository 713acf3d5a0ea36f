import Logging
import XferCore
import XferModel
import XferStore

/// A task that waits for room.
struct SpaceWait: Sendable {
    let task: TaskID
    let owner: Owner
    let space: MissingSpace
}

/// Waits for room end when the file system has it: no request is made to find out.
extension RunScheduler {
    /// Starts those of the tasks for which there is room now. The others wait until their next check.
    func startWithRoom(_ waiting: [SpaceWait]) async {
        let places = await services.withRoom(waiting.map { (owner: $0.owner, space: $0.space) })
        guard !places.isEmpty else { return }
        let now = clock()
        do {
            try await store.write(.bulky) { tx in
                for place in places {
                    let wait = waiting[place]
                    // The task may have another directory by now.
                    guard let task = try StoreError.nilIfUnreadable({ try tx.tasks.find(wait.task) }),
                        task.error?.space?.directory == wait.space.directory
                    else { continue }
                    try tx.transition(task, at: now) { $0.onRoom(at: now) }
                }
            }
        } catch {
            logger.report("tasks that waited for room could not be started", error)
        }
        schedule()
    }
}
