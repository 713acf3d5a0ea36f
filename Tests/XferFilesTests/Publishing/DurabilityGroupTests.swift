import Glibc
import Testing
import XferTestSupport
import XferThreads

@testable import XferFiles

@Suite struct DurabilityGroupTests {
    @Test func aRequestDuringASyncSharesTheNextRound() async throws {
        let base = try TestDirectory()
        let directory = try base.handle()
        let begun = Locked(0)
        let gate = Gate()
        let group = DurabilityGroup(pool: { [pool = BlockingPool()] _ in pool }) { _ in
            let round = begun.withLock {
                $0 += 1
                return $0
            }
            if round == 1 { gate.wait() }
        }
        try await withThrowingTaskGroup(of: Int.self) { tasks in
            func ask() {
                tasks.addTask {
                    try await group.sync(directory)
                    return begun.withLock { $0 }
                }
            }
            ask()
            try await eventually("a sync has begun") { begun.withLock { $0 } == 1 }
            for _ in 0..<99 { ask() }
            try await eventually("the others wait") { await group.waiterCount(of: directory) == 99 }
            gate.open()
            let seen = try await tasks.reduce(into: []) { $0.append($1) }
            #expect(seen.filter { $0 == 2 }.count >= 99)
        }
        #expect(begun.withLock { $0 } == 2)
        try await group.sync(directory)
        #expect(begun.withLock { $0 } == 3)
    }

    @Test func aFailedRoundFailsAllItsMembersAndTheNextIsTriedAgain() async throws {
        let base = try TestDirectory()
        let directory = try base.handle()
        let rounds = Locked(0)
        let problem = FileError.system(operation: "write out", path: base.path, code: EIO)
        let group = DurabilityGroup(pool: { [pool = BlockingPool()] _ in pool }) { (_) throws(FileError) in
            let round = rounds.withLock {
                $0 += 1
                return $0
            }
            if round == 1 { throw problem }
        }
        await #expect(throws: problem) { try await group.sync(directory) }
        try await group.sync(directory)
    }
}

/// Holds threads back until it is opened.
private final class Gate: Sendable {
    private let pool = BlockingPool(threadCount: 1)
    private let ends: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        self.ends = (ends[0], ends[1])
    }

    deinit { close(ends.read) }

    func wait() {
        var byte: UInt8 = 0
        _ = read(ends.read, &byte, 1)
    }

    /// End of file for all who wait.
    func open() { close(ends.write) }
}
