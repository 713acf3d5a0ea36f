import Testing
import XferModel

@testable import XferStore

/// How often the daemon crashed with a task in flight.
struct CrashTests {
    @Test func crashesCountUntilTheTaskMakesProgress() async throws {
        try await withStore { store in
            let counts = try await store.write { tx in
                var task = try tx.insertTask(specification(), state: .queued, at: noon)
                var counts = [try tx.countCrash(of: task), try tx.countCrash(of: task)]
                task.furthest = 1
                counts.append(try tx.countCrash(of: task))
                counts.append(try tx.countCrash(of: task))
                try tx.forgetCrashes(of: task.id)
                counts.append(try tx.crashCount(of: task.id))
                return counts
            }
            #expect(counts == [1, 2, 1, 2, 0])
        }
    }

    @Test func theCrashCountOfAnEndedOrRemovedTaskIsForgotten() async throws {
        try await withStore { store in
            let left = try await store.write { tx in
                var ended = try tx.insertTask(specification(), state: .queued, at: noon)
                let waiting = try tx.insertTask(specification(path: "/other"), state: .queued, at: noon)
                let gone = try tx.insertTask(specification(path: "/gone"), state: .queued, at: noon)
                for task in [ended, waiting, gone] { _ = try tx.countCrash(of: task) }
                ended.state = .failed
                ended.finishedAt = noon
                try tx.update(ended)
                try tx.deleteTask(gone.id)
                try tx.forgetCrashesOfEndedTasks()
                return try [ended, waiting, gone].map { try tx.crashCount(of: $0.id) }
            }
            #expect(left == [0, 1, 0])
        }
    }
}
