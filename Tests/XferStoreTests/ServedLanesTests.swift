import Testing
import XferModel
import XferSystem
import XferTestSupport

@testable import XferStore

/// Turns that are written later.
struct ServedLanesTests {
    private struct Undone: Error {}

    private static func addLanes(_ random: inout SplitMix64, in transaction: StoreTransaction) throws {
        let groupCount = Int.random(in: 0...2, using: &random)
        for number in 0..<Int.random(in: 1...12, using: &random) {
            let group = Int.random(in: 0...groupCount, using: &random)
            var wanted = specification(
                "host\(Int.random(in: 0..<8, using: &random))", owner: 1000, priority: .normal,
                group: group == 0 ? nil : "group\(group)")
            if number % 5 == 4 { wanted.profile = "profile" }
            _ = try transaction.tasks.insert(wanted, state: .queued, at: noon)
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            try transaction.cooldowns.set(host: "host1", until: noon)
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            try transaction.groups.setPaused(true, group: GroupKey(owner: Owner(uid: 1000), name: "group1"))
        }
    }

    /// Lanes are served in the same order, whenever their turns are written and however many are read at once.
    @Test(arguments: 1...60) func lanesComeInTheOrderOfTurnsWrittenAtOnce(seed: UInt64) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                var random = SplitMix64(seed: seed)
                try Self.addLanes(&random, in: transaction)
            }
            let expected = Locked<[QueueLane]>([])
            try await #require(throws: Undone.self) {
                try await store.write { transaction throws in
                    // A change-set that fails is executed again.
                    expected.withLock { $0 = [] }
                    for _ in 0..<40 {
                        guard let lane = try transaction.queue.nextLane(priority: .normal) else { break }
                        expected.withLock { $0.append(lane) }
                        _ = try transaction.queue.markServed(lane)
                        try transaction.settleTurns()
                    }
                    throw Undone()
                }
            }
            let served = try await store.write { transaction throws in
                var random = SplitMix64(seed: seed &+ 1000)
                var served: [QueueLane] = []
                while served.count < 40 {
                    let next = try transaction.queue.nextLanes(
                        priority: .normal, limit: Int.random(in: 1...6, using: &random))
                    guard !next.isEmpty else { break }
                    for lane in next.prefix(Int.random(in: 1...6, using: &random)) {
                        served.append(lane)
                        _ = try transaction.queue.markServed(lane)
                    }
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: try transaction.settleTurns()
                    case 1: #expect(try transaction.queue.nextLane(priority: .normal) != nil)
                    default: break
                    }
                }
                return served
            }
            #expect(served.prefix(40) == expected.withLock { $0 }[...])
        }
    }

    @Test func turnsThatARolledBackChangeHasWrittenAreNotLost() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for host in ["a", "b"] {
                    _ = try transaction.tasks.insert(specification(host), state: .queued, at: noon)
                }
            }
            let first = try await store.write { transaction throws in
                let lane = try #require(try transaction.queue.nextLane(priority: .normal))
                _ = try transaction.queue.markServed(lane)
                return lane.host
            }
            await #expect(throws: Undone.self) {
                try await store.write { transaction throws in
                    try transaction.settleTurns()
                    throw Undone()
                }
            }
            let next = try await store.write { try $0.queue.nextLane(priority: .normal)?.host }
            #expect(next != nil && next != first)
        }
    }

    /// A damaged counter of turns is no trap: the last turn that the column can hold is given.
    @Test(arguments: [Int64.max - 3, .min]) func theLastAndTheFirstTurnsAreGiven(last: Int64) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for host in ["a", "b", "c"] {
                    _ = try transaction.tasks.insert(specification(host), state: .queued, at: noon)
                }
                let lanes = try transaction.queue.nextLanes(priority: .normal, limit: 9)
                #expect(lanes.map(\.host) == ["a", "b", "c"])
                try transaction.connection.run("UPDATE rotation SET last = ?1", .integer(last))
                for lane in lanes { #expect(try transaction.queue.markServed(lane)) }
                try transaction.settleTurns()
                #expect(try transaction.queue.nextLane(priority: .normal) != nil)
            }
        }
    }

    @Test func aLaneIsInTheListOnceAtItsLastPlace() {
        let line = LineKey(priority: .normal, group: 0, profile: "")
        var served = ServedLanes()
        for host in ["a", "b", "a", "c"] { served.append(HostKey(line: line, host: host)) }
        #expect(served.lanes.map(\.host) == ["b", "a", "c"])
        #expect(served.removeAll().count == 3)
        #expect(served.lanes.isEmpty)
    }
}
