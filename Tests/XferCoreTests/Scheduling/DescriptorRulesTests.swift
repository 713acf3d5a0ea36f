import Testing
import XferCore
import XferModel

/// Starts stop before file descriptors run out.
struct DescriptorRulesTests {
    private func specification(segments: SegmentCount? = nil) throws -> TaskSpecification {
        var specification = TaskSpecification(
            owner: Owner(uid: 1),
            request: TransferRequest(url: HTTPURL(scheme: .http, host: "h", port: 80, target: "/")),
            destination: Destination(directory: "/d"))
        specification.segments = segments
        return specification
    }

    @Test(arguments: [(1024, 256), (4096, 65_536), (160, 16), (64, 256), (0, 0), (.max, .max), (.min, .min)])
    func theDescriptorBudgetLeavesAReserveForServiceAndClients(limit: Int, clients: Int) {
        let budget = DescriptorRules.budget(limit: limit, clients: clients)
        #expect(budget >= limit / 4)
        if limit >= 1024, clients <= 256 { #expect(budget <= limit - clients - 64) }
    }

    @Test(arguments: [(Int.min, 32), (0, 32), (1024, 64), (20_000, 1024), (.max, 1024)])
    func keptConnectionsAreASmallShareOfTheLimit(limit: Int, count: Int) {
        #expect(DescriptorRules.keptConnections(limit: limit) == count)
    }

    @Test func eachSegmentConnectionOfADownloadNeedsDescriptorsOfItsOwn() throws {
        let one = DescriptorRules.need(of: try specification(), segments: .one)
        let many = DescriptorRules.need(of: try specification(segments: .exactly(16)), segments: .one)
        let automatic = DescriptorRules.need(of: try specification(), segments: .automatic)
        #expect(one < automatic && automatic < many)
        #expect(DescriptorRules.needOfJoining < one)
    }

    @Test func theSchedulerAffordsOneTaskAlwaysAndOthersWithinTheBudget() {
        var limits = SchedulerLimits()
        limits.maxDescriptors = 10
        var scheduler = SchedulerStateMachine(limits: limits)
        #expect(scheduler.affords(descriptors: 50))
        let lane = QueueLane(priority: .normal, host: "h")
        scheduler.onStart(TaskID(1), of: TransferID(1), from: lane, descriptors: 6)
        #expect(scheduler.affords(descriptors: 4) && !scheduler.affords(descriptors: 5))
        scheduler.onEnd(TaskID(1))
        #expect(scheduler.affords(descriptors: 50))
    }
}
