import Testing
import XferCore
import XferTestSupport

@testable import XferFleet

@Suite struct ReportTests {
    private static func failure(_ body: () async throws(FleetError) -> Void) async -> PostgresError? {
        do throws(FleetError) {
            try await body()
        } catch {
            if case .database(let error) = error { return error }
        }
        return nil
    }

    @Test func anEndKeepsItsDetailAndItsResult() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        let claim = try await world.claim(node)[0]
        let bytes = (0..<FleetEnd.resultLimit).map { UInt8(truncatingIfNeeded: $0) }
        var report = FleetReport(applied: 17)
        let detail = #"{"error":{"kind":"x"}}"#
        report.ends = [FleetEnd(claimKey: claim.claimKey, ending: .failed, detail: detail, result: bytes)]
        _ = try await world.fleet.leases.report(node, report)
        let task = try #require(try await world.fleet.tasks.get(id))
        #expect(task.state == .failed && task.detail == #"{"error":{"kind":"x"}}"# && task.node == "one")
        #expect(task.hasResult && task.attempt == 1)
        #expect(try await world.fleet.tasks.result(id) == bytes)
        #expect(try await world.fleet.tasks.storedBytes(of: "ada") == Int64(bytes.count))
        #expect(try await world.fleet.tasks.storedBytes(of: "bob") == 0)
        #expect(try await world.join().applied == 17)
        report.ends[0].result?.append(0)
        await #expect(throws: FleetError.self) { try await world.fleet.leases.report(node, report) }
    }

    @Test func aDeclinedTaskGoesToAnotherNode() async throws {
        let world = try await FleetWorld()
        let (one, two) = (try await world.join("one"), try await world.join("two"))
        let id = try await world.add()
        let behind = try await world.add()
        var report = FleetReport()
        report.releases = [
            FleetRelease(
                claimKey: try await world.claim(one, 1)[0].claimKey, next: .decline, reason: "policy a differs")
        ]
        _ = try await world.fleet.leases.report(one, report)
        #expect(try await world.fleet.tasks.get(id)?.reason == "policy a differs")
        #expect(try await world.claim(one).map(\.claimKey.task) == [behind])
        let again = try await world.claim(two)
        #expect(again.map(\.claimKey.task) == [id] && again[0].attempt == 2)
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func progressIsShownAndGoesWithTheLease() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        let claim = try await world.claim(node)[0]
        var report = FleetReport()
        report.progress = [FleetProgress(claimKey: claim.claimKey, received: 5, total: nil)]
        _ = try await world.fleet.leases.report(node, report)
        report.progress = [FleetProgress(claimKey: claim.claimKey, received: 6, total: 9)]
        _ = try await world.fleet.leases.report(node, report)
        let task = try await world.fleet.tasks.get(id)
        #expect(task?.received == 6 && task?.total == 9)
        _ = try await world.end(node, [claim])
        #expect(try await world.fleet.tasks.get(id)?.received == nil)
    }

    @Test func aReportOfASupersededAgentWritesNothing() async throws {
        let world = try await FleetWorld()
        let old = try await world.join()
        let id = try await world.add()
        let claims = try await world.claim(old)
        let new = try await world.join()
        await #expect(throws: FleetError.superseded(node: "one")) { try await world.end(old, claims) }
        await #expect(throws: FleetError.superseded(node: "one")) { try await world.claim(old) }
        #expect(try await world.fleet.nodes.beat(old, figures: nil) == nil)
        #expect(try await world.state(id) == .leased)
        // The same store has the task: the claim is still good.
        #expect(try await world.end(new, claims).lost == [])
        #expect(try await world.state(id) == .completed)
    }

    @Test func anAnswerThatIsLostInTheCommitDoesNotEndATaskTwice() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        let claims = try await world.claim(node)
        let relay = try PostgresRelay(to: world.postgres.cluster)
        let agent = try await world.agent(host: relay.host)
        relay.set(.swallowsTheNextAnswer)
        var report = FleetReport()
        report.ends = claims.map { FleetEnd(claimKey: $0.claimKey, ending: .completed) }
        let lost = report
        let error = await Self.failure { () throws(FleetError) in _ = try await agent.leases.report(node, lost) }
        #expect(error?.isOutcomeUnknown == true && error?.kind == .broken)
        // It is repeated without harm, on a connection that is made anew.
        #expect(try await agent.leases.report(node, report).lost == [id])
        #expect(try await world.state(id) == .completed)
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func aServerThatDoesNotAnswerIsGivenUpInTime() async throws {
        let world = try await FleetWorld()
        let relay = try PostgresRelay(to: world.postgres.cluster)
        let agent = try await world.agent(host: relay.host, timeout: .milliseconds(300))
        #expect(try await agent.nodes.list() == [])
        relay.set(.stalls)
        let error = await Self.failure { () throws(FleetError) in _ = try await agent.nodes.list() }
        #expect(error?.isOutcomeUnknown == true && error?.kind == .timedOut)
        relay.set(.passes)
        #expect(try await agent.nodes.list() == [])
    }
}
