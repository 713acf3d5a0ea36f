import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferFleet

@Suite struct ClaimTests {
    @Test func anAddedTaskIsClaimedOnceAndEndsOnce() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        #expect(try await world.state(id) == .queued)

        let claims = try await world.claim(node)
        #expect(claims.map(\.claimKey.task) == [id])
        #expect(claims[0].spec == #"{"url":"https://a.example/x"}"#)
        #expect(claims[0].owner == "ada")
        #expect(claims[0].attempt == 1)
        #expect(try await world.state(id) == .leased)
        #expect(try await world.claim(node) == [])

        #expect(try await world.end(node, claims).lost == [])
        #expect(try await world.state(id) == .completed)
        #expect(try await world.end(node, claims).lost == [id])
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func higherPrioritiesAreClaimedFirstAndLanesOfOnePriorityTakeTurns() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        for host in ["a", "b", "c"] { try await world.add { $0.host = host } }
        let high = try await world.add { $0.priority = .high }
        let low = try await world.add { $0.priority = .low }
        #expect(try await world.claim(node, 1).map(\.claimKey.task) == [high])
        var cursor = FleetClaimCursor()
        var hosts: [String] = []
        for _ in 0..<3 { hosts += try await world.fleet.leases.claim(node, want: 1, cursor: &cursor).map(\.host) }
        #expect(Set(hosts) == ["a", "b", "c"])
        #expect(try await world.claim(node, 1).map(\.claimKey.task) == [low])
    }

    @Test func aTaskThatIsAddedLastInFirstOutIsClaimedFirst() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let first = try await world.add()
        let second = try await world.add { $0.order = .lifo }
        let third = try await world.add { $0.order = .lifo }
        #expect(try await world.claim(node).map(\.claimKey.task) == [third, second, first])
    }

    @Test func aNodeClaimsOnlyTasksOfItsPlaces() async throws {
        let world = try await FleetWorld()
        let one = try await world.join("one", labels: ["fast"])
        let two = try await world.join("two")
        try await world.add { $0.place = .node("two") }
        try await world.add { $0.place = .label("fast") }
        #expect(try await world.claim(one).map(\.place) == [.label("fast")])
        #expect(try await world.claim(two).map(\.place) == [.node("two")])
        try await world.add { $0.place = .node("three") }
        #expect(try await world.fleet.tasks.queueFigures().withoutNode == 1)
    }

    @Test func limitsOfHostGroupAndOwnerHoldForClaimsAndForCountsSetLater() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        for _ in 0..<6 { try await world.add { $0.group = "g" } }
        let two = try await world.claim(node, 2)
        try await world.fleet.limits.setHost("a.example", maxActive: 3)
        #expect(try await world.claim(node).count == 1)
        try await world.fleet.limits.setHost("a.example", maxActive: nil)
        try await world.fleet.limits.setGroup(owner: "ada", name: "g", maxActive: 4)
        #expect(try await world.claim(node).count == 1)
        try await world.fleet.limits.setOwner("ada", maxActive: 3)
        #expect(try await world.claim(node).count == 0)
        _ = try await world.end(node, two)
        #expect(try await world.claim(node).count == 1)
        #expect(try await world.fleet.limits.owners().map(\.leased) == [3])
        #expect(try await world.fleet.limits.groups(owner: "ada").map(\.leased) == [3])
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func pausedGroupsCoolingHostsAndDrainingNodesClaimNothing() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        try await world.add { $0.group = "g" }
        try await world.fleet.limits.setGroup(owner: "ada", name: "g", isPaused: true)
        #expect(try await world.claim(node) == [])
        try await world.fleet.limits.setGroup(owner: "ada", name: "g", isPaused: false)
        try await world.fleet.limits.coolDown(host: "a.example", for: .seconds(3600))
        try await world.fleet.limits.coolDown(host: "a.example", for: .seconds(1))
        #expect(try await world.claim(node) == [])
        #expect(try await world.fleet.limits.hosts().compactMap(\.cooldownUntil).count == 1)
        try await world.postgres.sql("UPDATE fleet_host SET cooldown_until = NULL")
        try await world.fleet.nodes.setDraining("one", true)
        #expect(try await world.claim(node) == [])
        try await world.fleet.nodes.setDraining("one", false)
        #expect(try await world.claim(node).count == 1)
    }

    @Test func concurrentClaimsOfSeveralConnectionsNeverExceedALimit() async throws {
        let world = try await FleetWorld()
        try await world.fleet.limits.setHost("a.example", maxActive: 7)
        try await world.fleet.limits.setOwner("ada", maxActive: 5)
        _ = try await world.fleet.tasks.add(
            (0..<300).map { FleetWorld.task($0.isMultiple(of: 2) ? "a.example" : "b.example") })
        let ended = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<6 {
                let agent = try await world.anotherAgent()
                group.addTask {
                    let node = try await agent.nodes.register(FleetWorld.node("n\(number)"))
                    var cursor = FleetClaimCursor()
                    var count = 0
                    while try await agent.tasks.counts(FleetTaskFilter())[.completed] < 300 {
                        let claims = try await agent.leases.claim(node, want: 4, cursor: &cursor)
                        // Each sees the counts as they are committed.
                        if try await agent.limits.owners().contains(where: { $0.leased > 5 }) { return -1000 }
                        var report = FleetReport()
                        report.ends = claims.map { FleetEnd(claimKey: $0.claimKey, ending: .completed) }
                        count += claims.count
                        if !(try await agent.leases.report(node, report).lost.isEmpty) { return -1000 }
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(ended == 300)
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func claimsUpdateInPlaceAndReadNoTableFromEndToEnd() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        for _ in 0..<5 { _ = try await world.fleet.tasks.add((0..<200).map { _ in FleetWorld.task() }) }
        // A plan that was made for small tables must not read large ones from end to end.
        var cursor = FleetClaimCursor()
        for _ in 0..<40 {
            let claims = try await world.fleet.leases.claim(node, want: 20, cursor: &cursor)
            _ = try await world.end(node, claims)
        }
        try await eventually("the statistics have all updates") {
            try await world.postgres.sql("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'fleet_lane'")
                .hasPrefix("45")
        }
        let hot = try await world.postgres.sql(
            "SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'fleet_lane'")
        // The first add opens the lane, and a page that is full is left once in a while.
        #expect((Int(hot.prefix { $0.isNumber }) ?? 99) <= 5)
        // Each index of a new table is made by a scan: `fleet_task` has four.
        let scans = try await world.postgres.sql(
            """
            SELECT string_agg(relname || ' ' || seq_scan, ',') FROM pg_stat_user_tables
            WHERE seq_scan > 4 AND relname IN (
                'fleet_task', 'fleet_queue', 'fleet_lease', 'fleet_end', 'fleet_event', 'fleet_lane', 'fleet_host')
            """)
        #expect(scans.filter { $0 != "\n" } == "")
    }
}
