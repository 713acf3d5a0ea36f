import Glibc
import Testing
import XferSystem
import XferTestSupport

@testable import XferFiles

@Suite struct BlockingPoolTests {
    private struct Problem: Error, Equatable { let number: Int }

    @Test func thePoolReturnsAndThrowsTheOutcomeOfItsWork() async throws {
        let pool = BlockingPool()
        #expect(await pool.run { 42 } == 42)
        await #expect(throws: Problem(number: 7)) {
            try await pool.run { () throws(Problem) -> Int in throw Problem(number: 7) }
        }
    }

    @Test func thePoolRunsAsManyJobsAtOnceAsItHasThreads() async throws {
        let pool = BlockingPool(threadCount: 4)
        let deadline = ContinuousClock.now + Patience.limit
        let counts = Locked((running: 0, most: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    await pool.run {
                        counts.withLock {
                            $0.running += 1
                            $0.most = max($0.most, $0.running)
                        }
                        // Every job waits until the pool has been full once.
                        while counts.withLock({ $0.most }) < 4, ContinuousClock.now < deadline { sched_yield() }
                        counts.withLock { $0.running -= 1 }
                    }
                }
            }
        }
        #expect(counts.withLock { $0.most } == 4)
    }

    @Test func oneThreadRunsItsJobsInOrder() async {
        let pool = BlockingPool(threadCount: 1)
        let done = Locked([Int]())
        for number in 0..<100 { await pool.run { done.withLock { $0.append(number) } } }
        #expect(done.withLock { $0 } == Array(0..<100))
    }

    @Test func aReleasedPoolFinishesItsWorkAndEndsItsThreads() async throws {
        weak var queue: WorkQueue?
        let finished = Locked(0)
        do {
            let own = WorkQueue(threadName: "test", threadCount: 3)
            queue = own
            for _ in 0..<200 { own.add { finished.withLock { $0 += 1 } } }
            own.end()
        }
        try await eventually("the pool is gone") { queue == nil }
        #expect(finished.withLock { $0 } == 200)
    }

    @Test func thePoolsThreadsReceiveNoSignals() async throws {
        let isBlocked = Locked<Bool?>(nil)
        await BlockingPool(threadCount: 1).run {
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            let queue = WorkQueue(threadName: "test", threadCount: 1)
            queue.add {
                var mask = sigset_t()
                pthread_sigmask(SIG_SETMASK, nil, &mask)
                let answer = sigismember(&mask, SIGTERM) == 1
                isBlocked.withLock { $0 = answer }
            }
            queue.end()
        }
        try await eventually("the thread has looked") { isBlocked.withLock { $0 } != nil }
        #expect(isBlocked.withLock { $0 } == true)
    }

    /// Short jobs are often over before their caller waits for them; ThreadSanitizer has to see even then who made what.
    @Test func aCallerSeesTheValueThatItsJobMade() async {
        final class Made: Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
        }
        let pool = BlockingPool(threadCount: 2)
        for number in 0..<20_000 {
            let made = await pool.run { Made(number) }
            guard made.number == number else {
                Issue.record("\(made.number) instead of \(number)")
                return
            }
        }
    }
}
