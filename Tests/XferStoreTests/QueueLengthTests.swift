import GRDB
import GRDBSQLite
import Testing
import XferModel

@testable import XferStore

/// What has to cost the same in a long queue as in a short one, by the instructions of SQLite's virtual machine.
struct QueueLengthTests {
    /// A step of the service's work over what a test filled in.
    struct Step: Sendable, CustomTestStringConvertible {
        let name: String
        /// Adds so many tasks, most of which the step has nothing to do with.
        let fill: @Sendable (StoreTransaction, Int) throws -> Void
        let work: @Sendable (StoreTransaction) throws -> Void
        var testDescription: String { name }
    }

    private static func wait(_ tx: StoreTransaction, _ count: Int, _ wait: Wait) throws {
        for _ in 0..<count { _ = try tx.tasks.insert(specification(), state: .waiting, wait: wait, at: noon) }
    }

    private static func finish(_ tx: StoreTransaction, _ count: Int) throws {
        for id in try tx.add(count) { try tx.setState(.completed, of: id, finishedAt: noon) }
    }

    static let steps: [Step] = [
        Step(name: "start, with tasks that wait for the network") { tx, count in
            try wait(tx, count, Wait(.network))
        } work: {
            try $0.waits.cap(at: noon)
        },
        Step(name: "start, with tasks that are tried again in time") { tx, count in
            try wait(tx, count, Wait(.retry, until: noon.advanced(by: .seconds(60))))
        } work: {
            try $0.waits.cap(at: noon)
        },
        Step(name: "start, with tasks for later days") { tx, count in
            try wait(tx, count, Wait(.schedule, until: noon.advanced(by: .seconds(86_400))))
        } work: {
            try $0.waits.cap(at: noon)
        },
        Step(name: "waking") { tx, count in
            try wait(tx, count, Wait(.retry, until: noon.advanced(by: .seconds(60))))
        } work: { tx in
            _ = try tx.waits.earliestEnd()
            _ = try tx.waits.due(now: noon, limit: 200)
            _ = try tx.waits.tasks(for: .network, limit: 200)
        },
        Step(name: "a step of trimming") { tx, count in
            try finish(tx, count)
        } work: { tx in
            let gone = try tx.tasks.trimHistory(maxCount: 1, olderThan: noon, step: 20)
            #expect(gone.tasks.count == 20)
        },
        Step(name: "a page, with nothing else of that state before it") { tx, count in
            try finish(tx, count)
            try tx.add(20)
        } work: { tx in
            let page = try tx.tasks.list(TaskQuery(states: [.queued]), ascending: true, limit: 10)
            let ids = try tx.tasks.ids(matching: TaskQuery(states: [.queued]), upTo: TaskID(.max), limit: 10)
            #expect(page.tasks.count == 10 && ids.count == 10)
        },
        Step(name: "counting and picking") { tx, count in
            try tx.add(count)
        } work: { tx in
            _ = try tx.counts.byState()
            let lane = try #require(try tx.queue.nextLane(priority: .normal))
            let heads = try tx.queue.heads(of: lane, order: .lifo, limit: 4)
            #expect(heads.count == 4)
        },
        Step(name: "the end of one of a task's targets") { tx, count in
            let targets = try tx.add(count)
            let dependent = try tx.tasks.insert(
                specification(), state: .waiting, wait: Wait(.dependency), at: noon)
            try tx.dependencies.set(of: dependent.id, on: targets)
        } work: { tx in
            let first = try #require(
                try tx.tasks.list(TaskQuery(states: [.queued]), ascending: true, limit: 1).tasks.first)
            try tx.setState(.completed, of: first.id)
            let ended = try #require(try tx.dependencies.nextEndedTarget())
            let dependent = try #require(try tx.dependencies.openDependents(of: ended.id, limit: 10).first)
            try tx.dependencies.settle(of: dependent, on: ended.id, ended.outcome)
            let waits = try tx.dependencies.hasOpenTargets(dependent)
            #expect(waits)
            try tx.dependencies.removeEndedTarget(ended.id)
        },
    ]

    @Test(arguments: steps) func operationsCostTheSameInALongQueue(step: Step) async throws {
        func cost(_ count: Int) async throws -> Int {
            try await withStore { store in
                try await store.write { try step.fill($0, count) }
                // Once for what is settled at the first look.
                try await store.write { _ = try $0.counts.byState() }
                return try await store.write { tx in try tx.instructions { try step.work(tx) } }
            }
        }
        let (short, long) = (try await cost(100), try await cost(2000))
        #expect(long < short * 2, "\(short) instructions with 100 tasks, \(long) with 2,000")
    }
}

extension StoreTransaction {
    /// How many instructions SQLite's virtual machine executes for this.
    func instructions(_ body: () throws -> Void) throws -> Int {
        let handle = connection.database.sqliteConnection
        var count = 0
        try withUnsafeMutablePointer(to: &count) { pointer in
            sqlite3_progress_handler(handle, 1, countInstruction, pointer)
            defer { sqlite3_progress_handler(handle, 0, nil, nil) }
            try body()
        }
        return count
    }
}

private func countInstruction(_ counter: UnsafeMutableRawPointer?) -> Int32 {
    counter?.assumingMemoryBound(to: Int.self).pointee += 1
    return 0
}
