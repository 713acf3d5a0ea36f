import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// Verbs over many tasks, which take those about which they decide alike together.
@Suite struct ManyTasksTests {
    private static let noon = Timestamp(seconds: 1_790_000_000)
    private static let user = Principal(owner: Owner(uid: 1000), isOperator: false, roots: ["/"])

    /// Tasks of every state and with everything that makes one differ from its neighbours, in random order.
    private static func fill(_ tx: StoreTransaction, seed: UInt64) throws -> [TaskID] {
        var random = SeededGenerator(seed: seed)
        var ids: [TaskID] = []
        let batch = try tx.batches.insert(owner: Owner(uid: 1000), maxActive: 3, at: noon)
        for number in 0..<120 {
            let host = ["a.example", "b.example"].randomElement(using: &random) ?? ""
            let isMember = Int.random(in: 0..<6, using: &random) == 0
            let owner: UInt32 = isMember ? 1000 : [0, 1000].randomElement(using: &random) ?? 0
            var specification = TaskSpecification(
                owner: Owner(uid: owner),
                request: TransferRequest(url: HTTPURL(scheme: .https, host: host, port: 443, target: "/\(number)")),
                destination: Destination(directory: "/d", name: "\(number)"))
            specification.group = isMember ? batch.group : [nil, "g", "h"].randomElement(using: &random) ?? nil
            specification.priority = [Priority.normal, .high].randomElement(using: &random) ?? .normal
            if Int.random(in: 0..<10, using: &random) == 0 { specification.kind = TaskKind.data }
            if Int.random(in: 0..<10, using: &random) == 0 { specification.completion.onEnd = ["hook"] }
            if Int.random(in: 0..<10, using: &random) == 0 { specification.maxReceiveRate = 1000 }
            if let earlier = ids.randomElement(using: &random), Int.random(in: 0..<6, using: &random) == 0 {
                specification.schedule.after = [earlier]
            }
            var task = try tx.tasks.insert(
                specification, state: .queued, batch: isMember ? batch.id : nil, at: noon)
            try tx.dependencies.set(of: task.id, on: specification.schedule.after)
            if Int.random(in: 0..<8, using: &random) == 0 {
                _ = try tx.reservations.reserve("\(number)", in: FileIdentity(device: 1, inode: 2), by: task.id)
            }
            if Int.random(in: 0..<8, using: &random) == 0 { _ = try tx.crashes.add(of: task) }
            let states: [TaskState] = [.queued, .queued, .waiting, .paused, .paused, .running] + TaskState.allCases
            task.state = states.randomElement(using: &random) ?? .queued
            task.received = Int64.random(in: 0..<3, using: &random)
            if Int.random(in: 0..<5, using: &random) == 0 { task.lastProgressAt = noon }
            if task.state.isTerminal { task.finishedAt = noon }
            if task.state == .waiting {
                let waits = [Wait(.retry, until: noon), Wait(.suspect), Wait(.network)]
                task.wait = waits.randomElement(using: &random)
            }
            try tx.tasks.update(task)
            ids.append(task.id)
        }
        try tx.batches.seal(batch.id, total: 20, refused: nil)
        return ids
    }

    /// Every row that a verb may change, and the events.
    private static func rows(_ database: String) async throws -> [Substring] {
        let script = """
            import sqlite3
            tables = ('task', 'task_count', 'batch', 'batch_count', 'queue_group', 'host_queue', 'group_queue',
                'only_host_queue', 'ended_target', 'dependency', 'calendar', 'reservation', 'task_crash')
            with sqlite3.connect('\(database)') as db:
                for table in tables:
                    for row in sorted(map(repr, db.execute(f'SELECT * FROM {table}'))): print(table, row)
                for row in db.execute("SELECT time, type, task_id, owner, payload FROM event WHERE task_id > 0 ORDER BY seq"):
                    print(row)
                print(db.execute("SELECT group_concat(payload) FROM event WHERE type LIKE 'batch%'").fetchall())
            """
        let dump = try await Command.run(try #require(Command.find("python3")), ["-c", script])
        try #require(dump.isSuccess, "\(dump)")
        return dump.output.split(separator: "\n")
    }

    @Test(arguments: TaskVerb.allCases, [UInt64(1), 2, 3])
    func aVerbDoesToManyTasksWhatItDoesToEachOne(verb: TaskVerb, seed: UInt64) async throws {
        let principal = seed == 3 ? Self.user : ManagerFixture.caller
        var results: [(rows: [Substring], outcome: SelectionResult.Listed)] = []
        for isTogether in [true, false] {
            let fixture = try await ManagerFixture()
            let manager = try await fixture.open()
            let ids = try await manager.store.write { try Self.fill($0, seed: seed) }
            // One that is given twice, and one that there is not.
            let asked = ids + [ids[10], TaskID(9999)]
            let outcome = try await manager.store.write { tx in
                if isTogether { return try tx.apply(verb, to: asked, for: principal, at: Self.noon).0 }
                var all = SelectionResult.Listed()
                for id in asked {
                    let one = try tx.apply(verb, to: [id], for: principal, at: Self.noon).0
                    all.changed += one.changed
                    all.unchanged += one.unchanged
                    all.missing += one.missing
                }
                return all
            }
            results.append((try await Self.rows(fixture.lastDatabase), outcome))
            await manager.shutdown(.suspend)
        }
        #expect(results[0].outcome == results[1].outcome)
        let differences = results[0].rows.difference(from: results[1].rows)
        #expect(differences.isEmpty, "\(differences)")
        #expect(!results[0].outcome.changed.isEmpty)
    }

    @Test func aStepEndsAtItsLimitOfTasksThatAreDecidedAboutOneByOne() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let ids = try await manager.store.write { try Self.fill($0, seed: 1) }
        let counts = try await manager.store.write { tx in
            var (rest, counts) = (ids[...], [Int]())
            while !rest.isEmpty {
                let step = try tx.apply(.cancel, to: rest, for: ManagerFixture.caller, atMost: 20, at: Self.noon)
                counts.append(step.count)
                rest = rest.dropFirst(step.count)
            }
            return counts
        }
        #expect(counts.count > 1 && counts.dropLast().allSatisfy { $0 >= 20 } && counts.reduce(0, +) == ids.count)
        let left = try await manager.store.read { try $0.counts.byState() }
        #expect(left.keys.filter { !$0.isTerminal } == [])
        await manager.shutdown(.suspend)
    }
}
