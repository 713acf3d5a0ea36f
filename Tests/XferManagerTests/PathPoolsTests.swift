import Testing
import XferFiles
import XferModel
import XferSystem
import XferTestSupport

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
                    await pools.pool(ofGuest: 1000).run {
                        answers.lock()
                        while !isAnswered.withLock(\.self) { answers.wait() }
                        answers.unlock()
                    }
                }
            }
            #expect(await pools.pool(ofGuest: 1001).run { 1 } == 1)
            #expect(await pools.service.run { 2 } == 2)
            answers.lock()
            isAnswered.withLock { $0 = true }
            answers.unlock()
            answers.broadcast()
        }
        #expect(await pools.pool(ofGuest: 1000).run { 3 } == 3)
    }

    /// All threads of another mount than the service's own wait for it.
    @Test func aMountThatDoesNotAnswerIsNamedAndHoldsUpNoOther() async throws {
        let home = try TemporaryDirectory("pools")
        let other = try TemporaryDirectory("pools", in: "/dev/shm")
        let pools = PathPools(service: BlockingPool(threadCount: 1), home: home.path)
        let (own, foreign) = (
            try DirectoryHandle(ofService: home.path), try DirectoryHandle(ofService: other.path)
        )
        try #require(own.identity.device != foreign.identity.device)
        let answers = ThreadCondition()
        let isAnswered = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await pools.pool(in: foreign).run {
                        answers.lock()
                        while !isAnswered.withLock(\.self) { answers.wait() }
                        answers.unlock()
                    }
                }
            }
            await #expect {
                _ = try await pools.run(in: foreign, within: .milliseconds(20)) { _ in 1 }
            } throws: { error in
                guard case FileError.unanswering(other.path, "/dev/shm") = error else { return false }
                return (error as? FileError)?.transferError.reason == .destinationUnavailable
            }
            // That work is still there: more would wait behind it.
            await #expect(throws: FileError.unanswering(path: other.path, mountPoint: "/dev/shm")) {
                _ = try await pools.run(in: foreign, within: .seconds(3600)) { _ in 1 }
            }
            #expect(pools.pool(forPath: other.path).isSilent(for: .zero))
            #expect(!pools.pool(forPath: home.path).isSilent(for: .zero))
            let near = try await pools.open(home.path) { 2 }
            #expect(near == 2)
            answers.lock()
            isAnswered.withLock { $0 = true }
            answers.unlock()
            answers.broadcast()
        }
        try await eventually("it answers again") { (try? await pools.open(other.path) { 3 }) == 3 }
    }
}
