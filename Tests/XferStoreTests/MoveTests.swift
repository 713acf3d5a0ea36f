import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Moving a task among its host's.
struct MoveTests {
    private static func order(_ reader: StoreReader, _ order: QueueOrder) throws -> [TaskID] {
        try reader.queue.heads(of: QueueLane(priority: .normal, host: "example.com"), order: order, limit: 100_000)
    }

    @Test(arguments: QueueOrder.allCases) func aTaskIsMovedToTheRequestedPlace(order: QueueOrder) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try transaction.add(5)
                let start = try Self.order(transaction, order)
                try #require(start.count == 5)
                try transaction.queue.move(start[3], to: .top, order: order)
                #expect(try Self.order(transaction, order) == [3, 0, 1, 2, 4].map { start[$0] })
                try transaction.queue.move(start[0], to: .bottom, order: order)
                #expect(try Self.order(transaction, order) == [3, 1, 2, 4, 0].map { start[$0] })
                try transaction.queue.move(start[0], to: .before(start[2]), order: order)
                #expect(try Self.order(transaction, order) == [3, 1, 0, 2, 4].map { start[$0] })
                try transaction.queue.move(start[3], to: .after(start[2]), order: order)
                #expect(try Self.order(transaction, order) == [1, 0, 2, 3, 4].map { start[$0] })
                try transaction.queue.move(start[2], to: .after(start[2]), order: order)
                #expect(try Self.order(transaction, order) == [1, 0, 2, 3, 4].map { start[$0] })
            }
        }
    }

    @Test func tasksAddedLaterStayBehindTheBottom() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let ids = try transaction.add(3)
                for _ in 0..<50 { for id in ids { try transaction.queue.move(id, to: .bottom, order: .fifo) } }
                let later = try transaction.add(2)
                #expect(try Self.order(transaction, .fifo) == ids + later)
            }
        }
    }

    @Test func theHostOfATaskAtTheTopIsServedNext() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for host in ["a", "b", "c"] { try transaction.add(2, to: host) }
                try transaction.queue.move(TaskID(6), to: .top, order: .fifo)
                #expect(try transaction.nextHosts(priority: .normal, limit: 9) == ["c", "a", "b"])
                #expect(try transaction.head(priority: .normal, host: "c", order: .fifo) == TaskID(6))
            }
        }
    }

    @Test func aMoveToAnotherLaneOrOfAMissingTaskIsRefused() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try transaction.add(1, to: "a")
                try transaction.add(1, to: "b")
            }
            await #expect(throws: StoreError.otherLane(TaskID(2))) {
                try await store.write { try $0.queue.move(TaskID(1), to: .before(TaskID(2)), order: .fifo) }
            }
            await #expect(throws: StoreError.noSuchTask(TaskID(3))) {
                try await store.write { try $0.queue.move(TaskID(3), to: .top, order: .fifo) }
            }
        }
    }

    /// Always into the same gap, until it is used up many times over.
    @Test(arguments: QueueOrder.allCases) func ranksAreRenumberedWhereGapsAreUsedUp(order: QueueOrder) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try transaction.add(40)
                var expected = try Self.order(transaction, order)
                try #require(expected.count == 40)
                for round in 0..<200 {
                    let moved = expected.remove(at: 10 + round % 29)
                    let anchor = expected[5]
                    expected.insert(moved, at: 6)
                    try transaction.queue.move(moved, to: .after(anchor), order: order)
                    try #require(try Self.order(transaction, order) == expected)
                }
            }
        }
    }

    @Test(arguments: 1...6) func randomMovesAgreeWithAnArray(seed: UInt64) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                var random = SplitMix64(seed: seed)
                let order = QueueOrder.allCases.randomElement(using: &random) ?? .fifo
                try transaction.add(12)
                var expected = try Self.order(transaction, order)
                try #require(expected.count == 12)
                for _ in 0..<150 {
                    if Int.random(in: 0..<10, using: &random) == 0 {
                        let added = try transaction.add(1)
                        expected.insert(added[0], at: order == .fifo ? expected.count : 0)
                    }
                    let moved = expected.remove(at: Int.random(in: 0..<expected.count, using: &random))
                    let index = Int.random(in: 0..<expected.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0:
                        try transaction.queue.move(moved, to: .top, order: order)
                        expected.insert(moved, at: 0)
                    case 1:
                        try transaction.queue.move(moved, to: .bottom, order: order)
                        expected.append(moved)
                    case 2:
                        try transaction.queue.move(moved, to: .before(expected[index]), order: order)
                        expected.insert(moved, at: index)
                    default:
                        try transaction.queue.move(moved, to: .after(expected[index]), order: order)
                        expected.insert(moved, at: index + 1)
                    }
                    try #require(try Self.order(transaction, order) == expected)
                }
            }
        }
    }
}
