import GRDB
import GRDBSQLite
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Groups as the store keeps them, and the scheduler's way around those that are held back.
struct GroupTests {
    private static func key(_ name: String, _ owner: UInt32 = 1000) -> GroupKey {
        GroupKey(owner: Owner(uid: owner), name: name)
    }

    @discardableResult
    private static func add(
        _ count: Int, _ host: String = "a", group: String? = nil, profile: String? = nil, owner: UInt32 = 1000,
        priority: Priority = .normal, in transaction: StoreTransaction
    ) throws -> [TaskID] {
        try (0..<count).map { _ in
            var wanted = specification(host, owner: owner, priority: priority, group: group)
            wanted.profile = profile
            return try transaction.tasks.insert(wanted, state: .queued, at: noon).id
        }
    }

    @Test func aGroupExistsWhileItHasTasksOrSettings() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                #expect(try transaction.groups.find(Self.key("g")) == nil)
                let ids = try Self.add(2, group: "g", in: transaction)
                try Self.add(1, group: "g", owner: 2000, in: transaction)
                #expect(
                    try transaction.groups.find(Self.key("g"))
                        == TaskGroup(key: Self.key("g"), counts: [.queued: 2]))
                try transaction.groups.setLimits(of: Self.key("g")) { $0.maxActive = 3 }
                try transaction.groups.setPaused(true, group: Self.key("later"))
                #expect(try transaction.groups.maxActive(of: Self.key("g")) == 3)
                #expect(try transaction.groups.maxActive(of: Self.key("g", 2000)) == nil)
                #expect(
                    try transaction.groups.list(limit: 9).map(\.key) == [
                        Self.key("g"), Self.key("later"), Self.key("g", 2000),
                    ])
                #expect(try transaction.groups.list(owner: Owner(uid: 2000), limit: 9).map(\.key.name) == ["g"])
                #expect(try transaction.groups.list(after: Self.key("g"), limit: 1).map(\.key.name) == ["later"])
                for id in ids { try transaction.tasks.delete(id) }
                #expect(try transaction.groups.find(Self.key("g"))?.limits.maxActive == 3)
                try transaction.groups.reset(Self.key("g"))
                try transaction.groups.setPaused(false, group: Self.key("later"))
                #expect(try transaction.groups.list(limit: 9).map(\.key) == [Self.key("g", 2000)])
                try transaction.setState(.cancelled, of: TaskID(3))
                try transaction.tasks.delete(TaskID(3))
                #expect(try transaction.groups.list(limit: 9).isEmpty)
            }
        }
    }

    @Test func groupSettingsSurviveARestartAndApplyToLaterTasks() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        try await store.write { transaction throws in
            try transaction.groups.setLimits(of: Self.key("g")) { $0.maxActive = 2 }
            try transaction.groups.setPaused(true, group: Self.key("g"))
        }
        try store.close()
        store = try directory.open()
        try await store.write { transaction throws in
            try Self.add(1, group: "g", priority: .high, in: transaction)
            #expect(try transaction.queue.nextLane(priority: .high) == nil)
            #expect(try transaction.groups.find(Self.key("g"))?.isPaused == true)
            try transaction.groups.setPaused(false, group: Self.key("g"))
            #expect(
                try transaction.queue.nextLane(priority: .high)
                    == QueueLane(priority: .high, group: Self.key("g"), host: "a"))
            #expect(try transaction.groups.maxActive(of: Self.key("g")) == 2)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// Lanes take turns whatever their groups are, also when the first lane of a group is of a host that is excluded: its
    /// other lanes come when it is their turn, not before.
    @Test func lanesTakeTurnsAcrossGroups() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (host, group) in [("a", nil), ("b", "g"), ("c", nil), ("d", "g"), ("e", "h")] as [(String, String?)]
                {
                    try Self.add(9, host, group: group, in: transaction)
                }
                func serve(_ count: Int, without hosts: Set<String> = []) throws -> [String] {
                    try (0..<count).map { _ in
                        guard
                            let lane = try transaction.queue.nextLane(
                                priority: .normal, without: LaneExclusions(hosts: hosts))
                        else {
                            return "none"
                        }
                        try transaction.queue.markServed(lane)
                        return lane.host
                    }
                }
                #expect(try serve(7) == ["a", "b", "c", "d", "e", "a", "b"])
                #expect(try serve(7, without: ["c", "d"]) == ["e", "a", "b", "e", "a", "b", "e"])
                #expect(try serve(3) == ["c", "d", "a"])
                #expect(try serve(2, without: ["a", "b", "c", "d", "e"]) == ["none", "none"])
                #expect(
                    try transaction.queue.nextLane(
                        priority: .normal,
                        without: LaneExclusions(groups: [Self.key("g"), Self.key("h"), Self.key("unknown")]))?.host
                        == "c")
            }
        }
    }

    @Test func aTaskIsQueuedInItsNewGroup() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let ids = try Self.add(2, group: "g", in: transaction)
                var task = try #require(try transaction.tasks.find(ids[0]))
                task.specification.group = "h"
                try transaction.tasks.update(task)
                try transaction.groups.setPaused(true, group: Self.key("g"))
                let lane = try #require(try transaction.queue.nextLane(priority: .normal))
                #expect(lane == task.lane)
                #expect(try transaction.queue.heads(of: lane, order: .fifo, limit: 9) == [ids[0]])
                task.specification.group = nil
                try transaction.tasks.update(task)
                #expect(try transaction.groups.list(limit: 9).map(\.key.name) == ["g"])
                #expect(try transaction.queue.nextLane(priority: .normal) == QueueLane(priority: .normal, host: "a"))
                #expect(throws: StoreError.otherLane(ids[1])) {
                    try transaction.queue.move(ids[0], to: .before(ids[1]), order: .fifo)
                }
            }
        }
    }

    @Test func aCoolingHostCoolsInEveryGroup() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for group in [nil, "g", "h"] as [String?] { try Self.add(1, "a", group: group, in: transaction) }
                try Self.add(1, "b", group: "g", in: transaction)
                try transaction.cooldowns.set(host: "a", until: noon)
                try Self.add(1, "a", group: "new", in: transaction)
                #expect(try transaction.queue.nextLane(priority: .normal)?.host == "b")
                #expect(try transaction.queue.nextLane(priority: .normal, without: LaneExclusions(hosts: ["b"])) == nil)
                try transaction.cooldowns.set(host: "a", until: nil)
                #expect(
                    try transaction.queue.nextLane(priority: .normal, without: LaneExclusions(hosts: ["b"]))
                        == QueueLane(priority: .normal, host: "a"))
            }
        }
    }

    @Test func groupSettingsOfAFailedChangeSetAreForgotten() async throws {
        struct Refused: Error {}
        try await withStore { store in
            try await store.write { try $0.groups.setLimits(of: Self.key("g")) { $0.maxActive = 1 } }
            let bad = Task {
                try await store.write { transaction throws in
                    try transaction.groups.setPaused(true, group: Self.key("g"))
                    try Self.add(3, "b", group: "other", in: transaction)
                    throw Refused()
                }
            }
            try await store.write { _ = try Self.add(1, group: "g", in: $0) }
            await #expect(throws: Refused.self) { try await bad.value }
            let groups = try await store.read { try $0.groups.list(limit: 9) }
            #expect(groups == [TaskGroup(key: Self.key("g"), limits: GroupLimits(maxActive: 1), counts: [.queued: 1])])
            #expect(try await store.read { try $0.queue.nextLane(priority: .normal)?.host } == "a")
        }
    }

    /// Whatever hosts, groups, profiles, pauses and cool-downs there are, and whatever is excluded: the pick is the one that walking all
    /// lanes gives.
    @Test(arguments: 1...8) func theLanePickedIsTheOneFoundByWalkingAllLanes(seed: UInt64) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                var random = SplitMix64(seed: seed)
                let groups = [nil, "g", "h", "i", "j", "k"] as [String?]
                for _ in 0..<400 {
                    let host = "host\(Int.random(in: 0..<4, using: &random))"
                    let group = groups.randomElement(using: &random) ?? nil
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0...2:
                        let profile = ["", "p", "q"].randomElement(using: &random) ?? ""
                        try Self.add(1, host, group: group, profile: profile.isEmpty ? nil : profile, in: transaction)
                    case 3:
                        guard let group else { continue }
                        try transaction.groups.setPaused(Bool.random(using: &random), group: Self.key(group))
                    case 4: try transaction.cooldowns.set(host: host, until: Bool.random(using: &random) ? noon : nil)
                    case 5:
                        guard let lane = try transaction.queue.nextLane(priority: .normal) else { continue }
                        try transaction.queue.markServed(lane)
                        let ids = try transaction.queue.heads(of: lane, order: .lifo, limit: 3)
                        for id in ids { try transaction.setState(.running, of: id) }
                    case 6:
                        let top = try transaction.tasks.lastID()?.rawValue ?? 0
                        let id = TaskID(Int64.random(in: 0...top, using: &random))
                        guard try transaction.tasks.find(id)?.state == .queued else { continue }
                        try transaction.queue.move(id, to: .top, order: .fifo)
                    default: break
                    }
                    let excludedGroups = Set(
                        groups.compactMap(\.self).filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
                    let excludedHosts = Set(
                        (0..<4).map { "host\($0)" }.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
                    let excludedProfiles = Set(["p", "q"].filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
                    let picked = try transaction.queue.nextLane(
                        priority: .normal,
                        without: LaneExclusions(
                            groups: Set(excludedGroups.map { Self.key($0) }), profiles: excludedProfiles,
                            hosts: excludedHosts))
                    let walked = try Self.walk(transaction).first {
                        !excludedHosts.contains($0.host) && !excludedProfiles.contains($0.profile)
                            && !($0.group.map(excludedGroups.contains) ?? false)
                    }
                    #expect(picked?.host == walked?.host && picked?.group?.name == walked?.group)
                    #expect(picked?.profile ?? "" == walked?.profile ?? "")
                }
            }
        }
    }

    /// Open lanes in the order of their turns.
    private static func walk(_ transaction: StoreTransaction) throws -> [(
        host: String, group: String?, profile: String
    )] {
        try transaction.connection.all(
            """
            SELECT host, name, profile FROM host_queue LEFT JOIN queue_group ON id = group_id
            WHERE priority = 1 AND cooling = 0 AND coalesce(paused, 0) = 0 ORDER BY turn
            """
        ) { (host: $0.text(0), group: $0.optionalText(1), profile: $0.text(2)) }
    }

    /// 40,000 tasks of a paused group and 40,000 of one at its limit, over 10,000 hosts each: neither picking others nor
    /// pausing, resuming and limiting walks them.
    @Test func heldBackTasksAreNotWalked() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try Self.add(5, "free", in: transaction)
                for number in 0..<40_000 {
                    try Self.add(1, "host\(number % 10_000)", group: "paused", in: transaction)
                    try Self.add(1, "host\(number % 10_000)", group: "full", in: transaction)
                }
                try transaction.groups.setPaused(true, group: Self.key("paused"))
                try transaction.groups.setLimits(of: Self.key("full")) { $0.maxActive = 1 }
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
                for _ in 0..<2 {
                    let lane = try #require(
                        try transaction.queue.nextLane(
                            priority: .normal, without: LaneExclusions(groups: [Self.key("full")]))
                    )
                    #expect(lane.host == "free")
                    let id = try #require(try transaction.queue.heads(of: lane, order: .fifo, limit: 1).first)
                    try transaction.setState(.running, of: id)
                    try transaction.queue.markServed(lane)
                }
                try transaction.groups.setPaused(false, group: Self.key("paused"))
                #expect(
                    try transaction.queue.nextLane(
                        priority: .normal,
                        without: LaneExclusions(groups: [Self.key("full")], hosts: ["free", "host0"]))?.host
                        == "host1")
                try transaction.groups.setPaused(true, group: Self.key("paused"))
                try transaction.groups.setLimits(of: Self.key("full")) { $0.maxActive = 2 }
                try transaction.groups.reset(Self.key("full"))
                _ = try transaction.groups.find(Self.key("full"))
                return work() - before
            }
            #expect(steps < 5000)
        }
    }
}
