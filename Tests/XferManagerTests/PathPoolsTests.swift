import Testing
import XferFiles
import XferTestSupport
import XferThreads

@testable import XferManager

struct PathPoolsTests {
    /// Two openings of a guest's that never end leave the threads of operators and of other guests free.
    @Test func aGuestsSilentPathHoldsUpNoOtherUser() async throws {
        let pools = PathPools(service: BlockingPool(threadCount: 1))
        let answers = ThreadCondition()
        let isAnswered = Locked(false)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    await pools.pool(of: 1000).run {
                        answers.lock()
                        while !isAnswered.withLock(\.self) { answers.wait() }
                        answers.unlock()
                    }
                }
            }
            #expect(await pools.pool(of: 1001).run { 1 } == 1)
            #expect(await pools.pool(of: nil).run { 2 } == 2)
            answers.lock()
            isAnswered.withLock { $0 = true }
            answers.unlock()
            answers.broadcast()
        }
        #expect(await pools.pool(of: 1000).run { 3 } == 3)
    }
}
