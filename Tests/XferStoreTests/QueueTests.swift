import GRDB
import GRDBSQLite
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Which task is next.
struct QueueTests {
    /// Takes the next task as a scheduler with one slot does.
    private static func take(_ transaction: StoreTransaction, _ order: QueueOrder) throws -> TaskID? {
        for priority in Priority.allCases.reversed() {
            guard let lane = try transaction.queue.nextLane(priority: priority) else { continue }
            guard let id = try transaction.queue.heads(of: lane, order: order, limit: 1).first else { continue }
            try transaction.setState(.running, of: id)
            try transaction.queue.markServed(lane)
            return id
        }
        return nil
    }

    private static func takeAll(_ transaction: StoreTransaction, _ order: QueueOrder) throws -> [TaskID] {
        var taken: [TaskID] = []
        while let id = try take(transaction, order) { taken.append(id) }
        return taken
    }

    @Test func lifoOrderServesTheNewestFirstIncludingTasksAddedMeanwhile() async throws {
        try await withStore { store in
            try await store.write { try $0.add(7) }
            let first = try await store.write { try Self.take($0, .lifo) }
            try await store.write { try $0.add(7) }
            let rest = try await store.write { try Self.takeAll($0, .lifo) }
            #expect([first?.rawValue] + rest.map(\.rawValue) == [7] + (8...14).reversed() + (1...6).reversed())
        }
    }

    @Test func fifoOrderServesTheOldestFirst() async throws {
        try await withStore { store in
            let ids = try await store.write { try $0.add(5) }
            #expect(try await store.write { try Self.takeAll($0, .fifo) } == ids)
        }
    }

    @Test func hostsTakeTurnsWhateverTheirNumberOfTasks() async throws {
        try await withStore { store in
            let served = try await store.write { transaction throws in
                try transaction.add(50, to: "big")
                try transaction.add(3, to: "small")
                func serve(_ count: Int) throws -> [String] {
                    try (0..<count).map { _ in
                        guard let id = try Self.take(transaction, .fifo) else { return "none" }
                        return try transaction.tasks.find(id)?.host ?? "none"
                    }
                }
                let early = try serve(4)
                // Comes later and waits for one round, not for fifty tasks.
                try transaction.add(2, to: "late")
                return try early + serve(7)
            }
            #expect(
                served == ["big", "small", "big", "small"] + ["big", "small", "late", "big", "late", "big", "big"])
        }
    }

    @Test func higherPrioritiesAreAlwaysServedFirst() async throws {
        try await withStore { store in
            let taken = try await store.write { transaction throws in
                let low = try transaction.add(1, to: "a", priority: .low)
                let normal = try transaction.add(2, to: "a", priority: .normal)
                let high = try transaction.add(1, to: "b", priority: .high)
                return (try Self.takeAll(transaction, .fifo), high + normal + low)
            }
            #expect(taken.0 == taken.1)
        }
    }

    @Test func aTaskIsServedAtItsNewPriority() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let ids = try transaction.add(2)
                var task = try #require(try transaction.tasks.find(ids[1]))
                task.specification.priority = .high
                try transaction.tasks.update(task)
                #expect(try transaction.head(priority: .high, host: task.host, order: .fifo) == ids[1])
                #expect(try Self.takeAll(transaction, .fifo) == ids.reversed())
                #expect(try transaction.nextHosts(priority: .high, limit: 1).isEmpty)
            }
        }
    }

    @Test func aCoolingHostIsNotServedUntilItIsReleased() async throws {
        try await withStore { store in
            let until = noon.advanced(by: .seconds(60))
            try await store.write { transaction throws in
                try transaction.add(1, to: "a")
                try transaction.add(1, to: "b")
                try transaction.cooldowns.set(host: "a", until: until)
                try transaction.cooldowns.set(host: "c", until: until.advanced(by: .seconds(1)))
            }
            try await store.write { transaction throws in
                try transaction.add(1, to: "a", priority: .high)
                try transaction.add(1, to: "c")
                #expect(try transaction.nextHosts(priority: .normal, limit: 9) == ["b"])
                #expect(try transaction.nextHosts(priority: .high, limit: 9) == [])
                #expect(try transaction.cooldowns.end(of: "a") == until)
                #expect(try transaction.cooldowns.earliestEnd() == until)
                #expect(try transaction.cooldowns.due(now: noon).isEmpty)
                #expect(try transaction.cooldowns.due(now: until).map(\.host) == ["a"])
                try transaction.cooldowns.set(host: "a", until: nil)
                #expect(try transaction.nextHosts(priority: .normal, limit: 9) == ["a", "b"])
                #expect(try transaction.nextHosts(priority: .high, limit: 9) == ["a"])
                #expect(try transaction.cooldowns.earliestEnd() == until.advanced(by: .seconds(1)))
            }
        }
    }

    @Test func tasksAreCountedByStateOwnerAndGroup() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (owner, group) in [(1, "x"), (1, "y"), (2, "x"), (2, nil)] as [(UInt32, String?)] {
                    let spec = specification(owner: owner, group: group)
                    _ = try transaction.tasks.insert(spec, state: .queued, at: noon)
                }
                try transaction.setState(.completed, of: TaskID(1))
                try transaction.setState(.paused, of: TaskID(4))
            }
            try await store.write { transaction throws in
                var task = try #require(try transaction.tasks.find(TaskID(2)))
                task.specification.group = "x"
                try transaction.tasks.update(task)
            }
            try await store.read { reader throws in
                #expect(try reader.counts.byState() == [.queued: 2, .completed: 1, .paused: 1])
                #expect(try reader.counts.byState(owner: Owner(uid: 1)) == [.queued: 1, .completed: 1])
                #expect(try reader.counts.byState(group: "x") == [.queued: 2, .completed: 1])
                #expect(try reader.counts.byState(owner: Owner(uid: 2), group: "x") == [.queued: 1])
                #expect(try reader.counts.byState(group: "y") == [:])
            }
        }
    }

    @Test func waitingTasksAreFoundByTimeAndReason() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (seconds, reason) in [(30, .retry), (10, .retry), (nil, .network), (20, .schedule)]
                    as [(Int?, WaitReason)]
                {
                    let until = seconds.map { noon.advanced(by: .seconds($0)) }
                    _ = try transaction.tasks.insert(
                        specification(), state: .waiting, wait: Wait(reason, until: until), at: noon)
                }
                #expect(try transaction.waits.earliestEnd() == noon.advanced(by: .seconds(10)))
                let now = noon.advanced(by: .seconds(20))
                #expect(try transaction.waits.due(now: now, limit: 9).map(\.id.rawValue) == [2, 4])
                #expect(try transaction.waits.due(now: now, limit: 1).map(\.id.rawValue) == [2])
                #expect(try transaction.waits.tasks(for: .retry, limit: 9).map(\.id.rawValue) == [1, 2])
                #expect(try transaction.waits.tasks(for: .retry, after: TaskID(1), limit: 9).map(\.id.rawValue) == [2])
                #expect(try transaction.waits.tasks(for: .network, limit: 9).map(\.id.rawValue) == [3])
                for id in 1...4 {
                    var task = try #require(try transaction.tasks.find(TaskID(Int64(id))))
                    task.state = .queued
                    task.wait = nil
                    try transaction.tasks.update(task)
                }
                #expect(try transaction.waits.earliestEnd() == nil)
                #expect(try transaction.waits.tasks(for: .retry, limit: 9).isEmpty)
            }
        }
    }

    /// What counts lengths moves with the clock; what ends at a time of day stays.
    @Test(arguments: [86_400, -7200]) func waitsMoveWithTheClock(step: Int) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (seconds, reason) in [(30, .retry), (5, .insufficientSpace), (nil, .network), (20, .schedule)]
                    as [(Int?, WaitReason)]
                {
                    let until = seconds.map { noon.advanced(by: .seconds($0)) }
                    _ = try transaction.tasks.insert(
                        specification(), state: .waiting, wait: Wait(reason, until: until), at: noon)
                }
                try transaction.cooldowns.set(host: "patient.example", until: noon.advanced(by: .seconds(60)))
                let now = noon.advanced(by: .seconds(step))
                try transaction.waits.shift(by: .seconds(step), now: now)
                let ends = try (1...4).map { try transaction.tasks.find(TaskID($0))?.wait?.until }
                #expect(
                    ends == [
                        now.advanced(by: .seconds(30)), now.advanced(by: .seconds(5)), nil,
                        noon.advanced(by: .seconds(20)),
                    ])
                #expect(try transaction.cooldowns.end(of: "patient.example") == now.advanced(by: .seconds(60)))
            }
        }
    }

    /// If the clock was set back while the service was stopped, retries and cooldowns wait no longer than their cap.
    @Test func retryWaitsAndCooldownsAreCappedAndScheduledWaitsAreNot() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for reason in [WaitReason.retry, .schedule] {
                    _ = try transaction.tasks.insert(
                        specification(), state: .waiting,
                        wait: Wait(reason, until: noon.advanced(by: .seconds(86_400))),
                        at: noon)
                }
                try transaction.cooldowns.set(host: "patient.example", until: noon.advanced(by: .seconds(86_400)))
                try transaction.waits.cap(at: noon)
                let hour = noon.advanced(by: .seconds(3600))
                #expect(try transaction.tasks.find(TaskID(1))?.wait?.until == hour)
                #expect(try transaction.tasks.find(TaskID(2))?.wait?.until == noon.advanced(by: .seconds(86_400)))
                #expect(try transaction.cooldowns.end(of: "patient.example") == hour)
            }
        }
    }

    /// 30,000 tasks, none of which may be walked: a few hundred steps of SQLite's machine are what a search in a B-tree
    /// with its neighbours costs.
    @Test(arguments: [1, 10_000]) func pickingATaskDoesNotWalkTheQueue(hostCount: Int) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for number in 0..<30_000 { try transaction.add(1, to: "host\(number % hostCount)") }
                try transaction.cooldowns.set(host: "host0", until: hostCount > 1 ? noon : nil)
            }
            let steps = try await store.write { transaction throws in
                let handle = transaction.connection.database.sqliteConnection
                func work() -> Int32 {
                    var (sum, statement): (Int32, OpaquePointer?) = (0, sqlite3_next_stmt(handle, nil))
                    while let current = statement {
                        sum += sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0)
                        statement = sqlite3_next_stmt(handle, current)
                    }
                    return sum
                }
                let before = work()
                let host = try #require(try transaction.nextHosts(priority: .normal, limit: 4).last)
                for order in QueueOrder.allCases {
                    let id = try #require(try transaction.head(priority: .normal, host: host, order: order))
                    try transaction.setState(.running, of: id)
                    try transaction.queue.markServed(QueueLane(priority: .normal, host: host))
                    try transaction.queue.move(TaskID(15_000), to: .top, order: order)
                    _ = try transaction.counts.byState()
                    _ = try transaction.tasks.list(TaskQuery(states: [.queued], hosts: [HostSelector(host)]), limit: 2)
                }
                return work() - before
            }
            #expect(steps < 5000)
        }
    }

    /// Whatever happens to tasks, the counters that the store updates by differences equal a full count.
    @Test(arguments: 1...4) func queueTablesStayConsistentUnderRandomChanges(seed: UInt64) async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        struct Refused: Error {}
        for round in 0..<30 {
            _ = try? await store.write { transaction throws in
                var random = SplitMix64(seed: seed &* 1000 &+ UInt64(round))
                let batch: BatchID? =
                    round % 3 == 0
                    ? try transaction.batches.insert(owner: Owner(uid: 1), maxActive: 1, at: noon).id : nil
                for _ in 0..<20 {
                    let host = "host\(Int.random(in: 0..<5, using: &random))"
                    let group = [nil, "x", "y"].randomElement(using: &random) ?? nil
                    let state = TaskState.allCases.randomElement(using: &random) ?? .queued
                    let priority = Priority.allCases.randomElement(using: &random) ?? .low
                    let owner = UInt32.random(in: 1...2, using: &random)
                    let top = try transaction.tasks.lastID()?.rawValue ?? 0
                    let id = TaskID(Int64.random(in: 1...max(1, top), using: &random))
                    switch Int.random(in: 0..<14, using: &random) {
                    case 0...3:
                        let spec = specification(host, owner: owner, priority: priority, group: group)
                        _ = try transaction.tasks.insert(spec, state: state, batch: batch, at: noon)
                    case 4...7:
                        guard var task = try transaction.tasks.find(id) else { continue }
                        task.state = state
                        task.specification.priority = priority
                        task.specification.group = group
                        task.specification.request.url = specification(host).request.url
                        try transaction.tasks.update(task)
                    case 8: if try transaction.tasks.find(id) != nil { try transaction.tasks.delete(id) }
                    case 9: _ = try transaction.nextHosts(priority: priority, limit: 1)
                    case 10:
                        let isCooling = Bool.random(using: &random)
                        try transaction.cooldowns.set(host: host, until: isCooling ? noon : nil)
                    case 11:
                        let key = GroupKey(owner: Owner(uid: owner), name: group ?? "z")
                        try transaction.groups.setPaused(Bool.random(using: &random), group: key)
                    case 12:
                        let key = GroupKey(owner: Owner(uid: owner), name: group ?? "z")
                        let limit = Bool.random(using: &random) ? 2 : nil
                        try transaction.groups.setLimits(of: key) { $0.maxActive = limit }
                    default:
                        let lane = try transaction.queue.nextLane(priority: priority)
                        // The exclusion matches no host, but makes the store search all lanes.
                        #expect(
                            try transaction.queue.nextLane(
                                priority: priority, without: LaneExclusions(hosts: ["other.test"]))
                                == lane)
                        if let lane { try transaction.queue.markServed(lane) }
                    }
                }
                if round % 4 == 3 { throw Refused() }
            }
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }
}
