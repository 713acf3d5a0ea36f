import Testing
import XferModel

@testable import XferStore

/// How often the daemon crashed with a task in flight.
struct CrashTests {
    @Test func crashesCountUntilTheTaskMakesProgress() async throws {
        try await withStore { store in
            let counts = try await store.write { tx in
                var task = try tx.tasks.insert(specification(), state: .queued, at: noon)
                var counts = [try tx.crashes.add(of: task), try tx.crashes.add(of: task)]
                task.furthest = 1
                counts.append(try tx.crashes.add(of: task))
                counts.append(try tx.crashes.add(of: task))
                try tx.crashes.remove(of: task.id)
                counts.append(try tx.crashes.count(of: task.id))
                return counts
            }
            #expect(counts == [1, 2, 1, 2, 0])
        }
    }

    @Test func theCrashCountOfAnEndedOrRemovedTaskIsForgotten() async throws {
        try await withStore { store in
            let left = try await store.write { tx in
                var ended = try tx.tasks.insert(specification(), state: .queued, at: noon)
                let waiting = try tx.tasks.insert(specification(path: "/other"), state: .queued, at: noon)
                let gone = try tx.tasks.insert(specification(path: "/gone"), state: .queued, at: noon)
                for task in [ended, waiting, gone] { _ = try tx.crashes.add(of: task) }
                ended.state = .failed
                ended.finishedAt = noon
                try tx.tasks.update(ended)
                try tx.tasks.delete(gone.id)
                try tx.crashes.removeOfEndedTasks()
                return try [ended, waiting, gone].map { try tx.crashes.count(of: $0.id) }
            }
            #expect(left == [0, 1, 0])
        }
    }
}
