import Testing
import XferCore
import XferModel

@testable import XferFleet

@Suite struct WishTests {
    @Test func aWishForAWaitingTaskActsAtOnceAndAForeignTaskIsNotSeen() async throws {
        let world = try await FleetWorld()
        let id = try await world.add()
        let foreign = try await world.fleet.tasks.wish(.cancel, by: .owner("bob"), for: .tasks([id]))
        #expect(foreign.map(\.verdict) == [.noSuchTask] && foreign[0].state == nil)
        _ = try await world.fleet.tasks.wish(.pause, by: .owner("ada"), for: .tasks([id]))
        #expect(try await world.state(id) == .paused)
        _ = try await world.fleet.tasks.wish(.resume, by: .operators, for: .tasks([id]))
        #expect(try await world.state(id) == .queued)
        _ = try await world.fleet.tasks.wish(.cancel, by: .operators, for: .tasks([id]))
        #expect(try await world.state(id) == .cancelled)
        _ = try await world.fleet.tasks.wish(.retry, by: .operators, for: .tasks([id]))
        #expect(try await world.state(id) == .queued)
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func wishesForALeasedTaskReachItsNodeInTheirOrder() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        let claim = try await world.claim(node)[0]
        for wish in [FleetWish.pause, .limits(#"{"max_rate":5}"#), .cancel, .pause] {
            _ = try await world.fleet.tasks.wish(wish, by: .operators, for: .tasks([id]))
        }
        let wishes = try await world.fleet.leases.wishes(node)
        #expect(wishes.map(\.wish) == [.pause, .limits(#"{"max_rate":5}"#), .cancel])
        #expect(Set(wishes.map(\.claimKey)) == [claim.claimKey])
        #expect(try await world.fleet.leases.list(node)[0].isCancelling)
        var report = FleetReport()
        report.wishes = [wishes[0].id]
        _ = try await world.fleet.leases.report(node, report)
        #expect(try await world.fleet.leases.wishes(node).count == 2)
        // A release of a task that is to be cancelled cancels it.
        report.releases = [FleetRelease(claimKey: claim.claimKey, next: .queue)]
        _ = try await world.fleet.leases.report(node, report)
        #expect(try await world.state(id) == .cancelled)
        #expect(try await world.fleet.leases.wishes(node) == [])
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func limitsThatWereWishedComeWithTheNextClaim() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        _ = try await world.fleet.tasks.wish(.limits(#"{"a":1,"b":2}"#), by: .operators, for: .tasks([id]))
        _ = try await world.fleet.tasks.wish(.limits(#"{"b":3}"#), by: .operators, for: .tasks([id]))
        #expect(try await world.claim(node)[0].limits == #"{"a": 1, "b": 3}"#)
    }

    @Test func aPausedOrMovedTaskLeavesItsNode() async throws {
        let world = try await FleetWorld()
        let (one, two) = (try await world.join("one"), try await world.join("two"))
        let paused = try await world.add()
        let moved = try await world.add { $0.place = .node("one") }
        let claims = try await world.claim(one)
        var report = FleetReport()
        report.releases = claims.map {
            FleetRelease(claimKey: $0.claimKey, next: $0.claimKey.task == paused ? .paused : .move(.node("two")))
        }
        _ = try await world.fleet.leases.report(one, report)
        #expect(try await world.state(paused) == .paused)
        #expect(try await world.claim(two).map(\.claimKey.task) == [moved])
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func aWishForAFilterConcernsTheCallersTasksAlone() async throws {
        let world = try await FleetWorld()
        let mine = try await world.add { $0.label = "x" }
        let foreign = try await world.add {
            $0.label = "x"
            $0.owner = "bob"
        }
        var filter = FleetTaskFilter()
        filter.label = "x"
        let outcomes = try await world.fleet.tasks.wish(.cancel, by: .owner("ada"), for: .matching(filter, after: nil))
        #expect(outcomes.map(\.task) == [mine])
        #expect(try await world.state(foreign) == .queued)
        filter.owner = "bob"
        #expect(try await world.fleet.tasks.wish(.cancel, by: .owner("ada"), for: .matching(filter, after: nil)) == [])
    }

    @Test func wishesAndClaimsAtTheSameTimeLeaveEachTaskInOnePlace() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let other = try await world.anotherAgent()
        let ids = try await world.fleet.tasks.add((0..<60).map { FleetWorld.task("h\($0 % 3).example") }).map(\.task)
        async let wishing: Void = {
            for _ in 0..<10 {
                for wish in [FleetWish.pause, .priority(.high), .resume, .move(.any), .priority(.low), .reorder(.top)] {
                    _ = try await other.tasks.wish(wish, by: .operators, for: .tasks(ids))
                }
            }
        }()
        for _ in 0..<60 {
            let claims = try await world.claim(node, 7)
            var report = FleetReport()
            report.releases = claims.map { FleetRelease(claimKey: $0.claimKey, next: .queue) }
            _ = try await world.fleet.leases.report(node, report)
        }
        try await wishing
        #expect(try await world.fleet.invariants() == [])
    }
}
