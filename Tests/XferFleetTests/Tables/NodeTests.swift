import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferFleet

@Suite struct NodeTests {
    @Test func aBeatRaisesTheCountAndKeepsTheLastFigures() async throws {
        let world = try await FleetWorld()
        let node = try await world.join("one", labels: ["b", "a"])
        let before = try #require(try await world.row(node))
        #expect(try await world.fleet.nodes.beat(node, figures: #"{"running":1}"#) != nil)
        #expect(try await world.fleet.nodes.beat(node, figures: nil) != nil)
        let after = try #require(try await world.row(node))
        #expect(after.beat == before.beat + 2 && after.figures == #"{"running":1}"#)
        #expect(after.description == FleetWorld.node("one", labels: ["a", "b"]))
        #expect(node.fleet.utf8.count == 32)
    }

    @Test func anotherStoreGetsTheNameOnlyWhenTheNodeIsDown() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let clone = FleetWorld.node("one", store: "another")
        await #expect(throws: FleetError.nodeNameTaken(node: "one")) { try await world.fleet.nodes.register(clone) }
        #expect(try await world.fleet.takeovers.takeOver(try #require(try await world.row(node))))
        #expect(try await world.fleet.nodes.register(clone).applied == 0)
    }

    @Test func aDeadNodeLosesWhatOthersMayTakeAndKeepsWhatIsPinned() async throws {
        let world = try await FleetWorld()
        let (one, two) = (try await world.join("one"), try await world.join("two"))
        let any = try await world.add()
        let pinned = try await world.add { $0.place = .node("one") }
        let once = try await world.add { $0.isRepeatable = false }
        let unbegun = try await world.add { $0.isRepeatable = false }
        let claims = try await world.claim(one)
        #expect(claims.count == 4)
        let begun = claims.filter { $0.claimKey.task == once }.map(\.claimKey)
        #expect(try await world.fleet.leases.begin(one, begun) == [])

        let row = try #require(try await world.row(one))
        #expect(try await world.fleet.takeovers.takeOver(row))
        #expect(try await world.state(any) == .queued)
        #expect(try await world.state(pinned) == .leased)
        #expect(try await world.fleet.tasks.get(pinned)?.isNodeDown == true)
        #expect(try await world.state(once) == .outcomeUnknown)
        #expect(try await world.state(unbegun) == .queued)
        #expect(try await world.row(one)?.needsTakeover == false)

        // The zombie's writes hit no row.
        await #expect(throws: FleetError.superseded(node: "one")) { try await world.end(one, claims) }
        #expect(try await world.claim(two).map(\.claimKey.task) == [any, unbegun])
        let back = try await world.join("one")
        #expect(Set(try await world.end(back, claims).lost) == [any, once, unbegun])
        #expect(try await world.state(pinned) == .completed)
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func aNodeThatHasBeatenSinceIsNotTakenOver() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let row = try #require(try await world.row(node))
        #expect(try await world.fleet.nodes.beat(node, figures: nil) != nil)
        #expect(try await !world.fleet.takeovers.takeOver(row))
        #expect(try await world.row(node)?.isDown == false)
    }

    @Test func aTakeoverThatWasInterruptedIsFinishedByAnotherObserver() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        _ = try await world.claim(node)
        let row = try #require(try await world.row(node))
        try await world.postgres.sql("SELECT fleet_mark_down(\(row.id), \(row.incarnation), \(row.beat))")
        let found = try #require(try await world.row(node))
        #expect(found.needsTakeover)
        #expect(try await world.fleet.takeovers.takeOver(found))
        #expect(try await world.state(id) == .queued)
        #expect(try await world.row(node)?.needsTakeover == false)
    }

    @Test func aForgottenNodesPinnedTasksEndAsWasShownBefore() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let queued = try await world.add { $0.place = .node("one") }
        let paused = try await world.add {
            $0.place = .node("one")
            $0.startsPaused = true
        }
        await #expect(throws: FleetError.nodeIsUp("one")) { try await world.fleet.takeovers.forget("one") }
        let leased = try await world.claim(node, 1).map(\.claimKey.task)
        #expect(leased == [queued])
        #expect(try await world.fleet.takeovers.takeOver(try #require(try await world.row(node))))
        let effects = try await world.fleet.takeovers.forgetEffects("one", after: nil)
        #expect(effects.map(\.task) == [queued, paused])
        #expect(effects.allSatisfy { $0.verdict == .end(.failed) })
        try await world.fleet.takeovers.forget("one")
        #expect(try await world.fleet.nodes.list() == [])
        #expect(try await world.state(queued) == .failed)
        #expect(try await world.state(paused) == .failed)
        await #expect(throws: FleetError.noSuchNode("one")) { try await world.fleet.takeovers.forget("one") }
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func leasesThatTheNodesStoreDoesNotHaveAreDecidedOn() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add { $0.place = .node("one") }
        _ = try await world.claim(node)
        let leases = try await world.fleet.leases.list(node)
        #expect(leases.map(\.claimKey.task) == [id])
        try await world.fleet.takeovers.abandon(node, leases.map(\.claimKey))
        #expect(try await world.state(id) == .queued)
        #expect(try await world.fleet.leases.list(node) == [])
    }

    @Test func ratesAreSharedByNodesThatAreNeitherDownNorDraining() async throws {
        let world = try await FleetWorld()
        _ = try await world.join("one")
        _ = try await world.join("two")
        try await world.fleet.limits.setRates(receive: 1001, send: 0)
        #expect(try await world.fleet.limits.rates().receiveShare == 500)
        try await world.fleet.nodes.setDraining("two", true)
        #expect(try await world.fleet.limits.rates() == FleetRates(receive: 1001, send: 0, liveNodes: 1))
        await #expect(throws: FleetError.noSuchNode("three")) { try await world.fleet.nodes.setDraining("three", true) }
    }
}
