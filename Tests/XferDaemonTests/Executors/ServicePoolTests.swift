import Dispatch
import Testing

@testable import XferDaemon

/// The threads that Swift's tasks run on in the daemon.
struct ServicePoolTests {
    private actor Counter {
        private(set) var value = 0
        func add() { value += 1 }
    }

    @Test func everyJobIsRunHoweverJobsCallEachOther() async throws {
        let pool = try ServicePool(threads: 3)
        let counters = (0..<8).map { _ in Counter() }
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<50 {
                group.addTask(executorPreference: pool) {
                    for step in 0..<200 { await counters[(start + step) % counters.count].add() }
                }
            }
        }
        var sum = 0
        for counter in counters { sum += await counter.value }
        #expect(sum == 50 * 200)
    }

    /// If a thread adds two jobs, one of them must not wait for the thread, which may be busy for long.
    @Test func aSecondJobOfABusyThreadIsRunByAnother() async throws {
        let pool = try ServicePool(threads: 2)
        await Task(executorPreference: pool) {
            let ran = DispatchSemaphore(value: 0)
            for _ in 0..<2 { Task(executorPreference: pool) { ran.signal() } }
            for _ in 0..<2 { Self.wait(for: ran) }
        }.value
    }

    /// Blocks, as a page of a file that has to be read from a disk does.
    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }
}
