import Testing
import XferModel
import XferTestSupport

@testable import XferCore

/// The scheduler where the configuration sets no numbers.
@Suite struct AutomaticLimitsTests {
    private static func instant(_ seconds: Double) -> MonotonicInstant { OriginWorld.instant(seconds) }

    private static let answer = OriginWindow.Outcome.answered(
        OriginWindow.Answer(http: .http2, latency: .milliseconds(100), bytes: 1000))

    private static func startAll(
        _ queue: inout MemoryQueue, _ scheduler: inout SchedulerStateMachine
    ) throws -> [(id: TaskID, host: String)] {
        var started: [(id: TaskID, host: String)] = []
        while let task = try queue.start(&scheduler) { started.append(task) }
        return started
    }

    @Test func anUnknownOriginBeginsWithSixAndGrowsWithItsAnswers() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        for id in 1...1500 { queue.add(id, host: "a") }
        var running = try Self.startAll(&queue, &scheduler).map(\.id)
        #expect(
            running.count == 6
                && scheduler.obstacle(to: QueueLane(priority: .normal, host: "a"), groupLimit: nil) == .hostFull)
        var most = 0
        for round in 1...200 {
            // The answers of a round trip.
            for id in running {
                scheduler.record(Self.answer, of: TransferID(id.rawValue), at: Self.instant(Double(round) / 10))
                scheduler.onBodyEnd(TransferID(id.rawValue))
                scheduler.onEnd(id)
            }
            running = try Self.startAll(&queue, &scheduler).map(\.id)
            most = max(most, running.count)
            if running.isEmpty { break }
        }
        #expect(queue.isEmpty && most == TransferMix.mostSmall)
    }

    @Test func limitsThatAreSetMeanWhatTheySay() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 100, maxActivePerHost: 50))
        for id in 1...500 { queue.add(id, host: id % 2 == 0 ? "a" : "b") }
        let started = try Self.startAll(&queue, &scheduler)
        #expect(started.count == 100 && started.count { $0.host == "a" } == 50)
    }

    @Test func aHostsOwnLimitBeatsBothTheWindowAndTheConfiguration() throws {
        for limits in [SchedulerLimits(), SchedulerLimits(maxActive: 100, maxActivePerHost: 50)] {
            var queue = MemoryQueue()
            var scheduler = SchedulerStateMachine(limits: limits)
            scheduler.origins.setLimits(["a": OriginWindows.HostLimit(connections: 2)])
            for id in 1...10 { queue.add(id, host: "a") }
            #expect(try Self.startAll(&queue, &scheduler).count == 2)
        }
    }

    @Test func theHostsOfAnImpoliteProfileMayHaveMoreConnections() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        scheduler.impoliteProfiles = ["fast"]
        queue.add(1, host: "a", profile: "fast")
        queue.add(2, host: "b", profile: "other")
        queue.add(3, host: "c")
        _ = try Self.startAll(&queue, &scheduler)
        func most(_ host: String) -> Int? { scheduler.origins[host]?.bounds.connections }
        #expect(most("a") == 16 && most("b") == 6 && most("c") == 6)
        // It applies to later starts, too, and until the profile changes.
        scheduler.origins.setLimits([:])
        #expect(most("a") == 16)
        scheduler.impoliteProfiles = ["fast"]
        #expect(most("a") == 16)
        scheduler.impoliteProfiles = []
        #expect(most("a") == 6)
    }

    @Test func aPacedHostIsPassedOverUntilItsTime() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        scheduler.origins.setLimits(["a": OriginWindows.HostLimit(requestsPerMinute: 60)])
        scheduler.origins.advance(to: Self.instant(0))
        for id in 1...3 { queue.add(id, host: "a") }
        queue.add(4, host: "b")
        #expect(try Self.startAll(&queue, &scheduler).map(\.host).sorted() == ["a", "b"])
        scheduler.onEnd(TaskID(1))
        #expect(try Self.startAll(&queue, &scheduler).isEmpty)
        scheduler.origins.advance(to: Self.instant(1))
        #expect(try Self.startAll(&queue, &scheduler).map(\.id) == [TaskID(2)])
    }

    @Test func aHostWhoseLimitPerMinuteIsRaisedDoesNotWaitForItsFormerOne() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        scheduler.origins.setLimits(["a": OriginWindows.HostLimit(requestsPerMinute: 1)])
        scheduler.origins.advance(to: Self.instant(0))
        for id in 1...3 { queue.add(id, host: "a") }
        #expect(try Self.startAll(&queue, &scheduler).map(\.id) == [TaskID(1)])
        // The same rate again, as after a reload, changes nothing.
        scheduler.origins.setLimits(["a": OriginWindows.HostLimit(connections: 5, requestsPerMinute: 1)])
        #expect(scheduler.origins.paced == ["a"] && scheduler.origins.earliestPaced == Self.instant(60))
        scheduler.origins.setLimits(["a": OriginWindows.HostLimit(requestsPerMinute: 60)])
        #expect(scheduler.origins.paced.isEmpty && scheduler.origins.earliestPaced == nil)
        #expect(try Self.startAll(&queue, &scheduler).map(\.id) == [TaskID(2)])
    }

    @Test func aHostWithHalfOfAllTransfersLetsOthersStartFirst() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActivePerHost: 1000))
        for id in 1...400 { queue.add(id, host: "big") }
        // Small ends let more start: the whole line is the big host's while it is alone.
        for _ in 0..<100 {
            guard let task = try queue.start(&scheduler) else { break }
            scheduler.onBodyEnd(TransferID(task.id.rawValue))
            scheduler.onEnd(task.id)
        }
        let alone = try Self.startAll(&queue, &scheduler)
        #expect(alone.count == TransferMix.mostSmall)
        for id in 1001...1040 { queue.add(id, host: "other") }
        var hosts: [String] = []
        for task in alone.prefix(8) {
            scheduler.onEnd(task.id)
            if let next = try queue.start(&scheduler) { hosts.append(next.host) }
        }
        #expect(hosts == Array(repeating: "other", count: 8))
    }

    @Test func retriesOfADeadHostStartAfterFirstTriesOfOthers() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        queue.add(1, host: "dead")
        let first = try #require(try queue.start(&scheduler))
        scheduler.record(.silent, of: TransferID(first.id.rawValue), at: Self.instant(60))
        scheduler.onEnd(first.id)
        queue.add(1, host: "dead")
        for id in 2...4 { queue.add(id, host: "good") }
        let order = try Self.startAll(&queue, &scheduler).map(\.host)
        #expect(order == ["good", "good", "good", "dead"])
    }

    /// Origins that answer, refuse, break and are silent in any order, behind few addresses.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func whateverOriginsDoEveryTaskStarts(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        for id in 1...400 { queue.add(id, host: "h\(Int.random(in: 0..<20, using: &random))") }
        var running: [(id: TaskID, host: String)] = []
        var step = 0.0
        while !queue.isEmpty {
            step += 0.01
            scheduler.origins.advance(to: Self.instant(step))
            let started = try Self.startAll(&queue, &scheduler)
            running += started
            try #require(!running.isEmpty, "nothing runs, and nothing starts: \(queue.count) are left")
            for host in Set(running.map(\.host)) {
                #expect(scheduler.activeCount(ofHost: host) <= 100)
            }
            let (id, _) = running.remove(at: Int.random(in: running.indices, using: &random))
            let answer = OriginWindow.Answer(
                http: Bool.random(using: &random) ? .http1 : .http2, latency: .milliseconds(10), bytes: 1000,
                address: ["192.0.2.1", "192.0.2.2", nil].randomElement(using: &random) ?? nil)
            let outcomes: [OriginWindow.Outcome] = [
                .answered(answer), .answered(answer), .refused(requestsWait: false), .refused(requestsWait: true),
                .broken,
                .silent, .other,
            ]
            scheduler.record(
                outcomes.randomElement(using: &random) ?? .other, of: TransferID(id.rawValue), at: Self.instant(step))
            scheduler.onEnd(id)
        }
    }

    // MARK: Small and large

    private static func start(_ count: Int, _ scheduler: inout SchedulerStateMachine, from first: Int = 1) -> Int {
        var started = 0
        for id in first..<first + count {
            let lane = QueueLane(priority: .normal, host: "h\(id)")
            guard scheduler.mayStart(lane, groupLimit: nil) else { break }
            scheduler.onStart(TaskID(Int64(id)), of: TransferID(Int64(id)), from: lane)
            started += 1
        }
        return started
    }

    @Test func aListOfDiskImagesIsNotFetchedManyAtATime() {
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        var next = 1
        var large: Set<Int> = []
        for _ in 0..<20 {
            let started = Self.start(100, &scheduler, from: next)
            for id in next..<next + started {
                _ = scheduler.classify(TransferID(Int64(id)), as: .large)
                large.insert(id)
            }
            next += started
        }
        #expect(large.count == TransferMix.first)
        // Some end: as many are left as may be at most, and none starts.
        let most = TransferMix.first - TransferMix.mostLargeStarted
        for id in 1...most { scheduler.onEnd(TaskID(Int64(id))) }
        #expect(Self.start(100, &scheduler, from: next) == 0)
        for id in most + 1...most + 7 { scheduler.onEnd(TaskID(Int64(id))) }
        #expect(Self.start(100, &scheduler, from: next) == 1)
    }

    @Test func smallFilesStartBesideSixLargeOnes() {
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        #expect(Self.start(6, &scheduler) == 6)
        for id in 1...6 { _ = scheduler.classify(TransferID(Int64(id)), as: .large) }
        var next = 7
        var most = 0
        for _ in 0..<20 {
            let started = Self.start(100, &scheduler, from: next)
            most = max(most, started)
            for id in next..<next + started {
                scheduler.onBodyEnd(TransferID(Int64(id)))
                scheduler.onEnd(TaskID(Int64(id)))
            }
            next += started
        }
        #expect(most == TransferMix.mostSmall)
    }

    @Test func tasksThatOnlyConnectLeaveTheirPlacesToOthers() {
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        #expect(Self.start(60, &scheduler) == TransferMix.first)
        for id in 1...TransferMix.first { _ = scheduler.classify(TransferID(Int64(id)), as: .connecting) }
        #expect(Self.start(60, &scheduler, from: TransferMix.first + 1) == TransferMix.first)
    }

    @Test func aTransferIsLargeByItsLengthOrByItsTimeWithoutOne() {
        let limit = TransferMix.largeLength
        #expect(TransferMix.kind(isConnecting: false, length: limit, age: .seconds(100)) == .small)
        #expect(TransferMix.kind(isConnecting: false, length: limit + 1, age: .zero) == .large)
        #expect(TransferMix.kind(isConnecting: false, length: nil, age: .milliseconds(999)) == .small)
        #expect(TransferMix.kind(isConnecting: false, length: nil, age: .seconds(1)) == .large)
        #expect(TransferMix.kind(isConnecting: true, length: limit + 1, age: .seconds(1)) == .connecting)
        #expect(TransferMix.kind(isConnecting: true, length: nil, age: .zero) == .small)
    }

    // MARK: Large files behind small ones

    private static func large(_ id: Int64, begunAt: Double, mayReturn: Bool = true, isStopping: Bool = false)
        -> TransferMix.Large
    {
        TransferMix.Large(
            transfer: TransferID(id), begunAt: instant(begunAt), mayReturn: mayReturn, isStopping: isStopping)
    }

    @Test func theLargeTransfersThatBeganLastReturnToTheQueue() {
        let most = Int64(TransferMix.mostLargeStarted)
        let enough = (1...most).map { Self.large($0, begunAt: Double($0)) }
        #expect(TransferMix.surplus(of: enough).isEmpty)
        let two = [Self.large(most + 1, begunAt: 0.5), Self.large(most + 2, begunAt: 100)]
        #expect(TransferMix.surplus(of: enough + two) == [TransferID(most + 2), TransferID(most)])
        let stopping = [Self.large(most + 1, begunAt: 0.5), Self.large(most + 2, begunAt: 100, isStopping: true)]
        #expect(TransferMix.surplus(of: enough + stopping) == [TransferID(most)], "one of two stops already")
        let kept = [Self.large(most + 1, begunAt: 101, mayReturn: false), Self.large(most + 2, begunAt: 100)]
        #expect(TransferMix.surplus(of: enough + kept) == [TransferID(most + 2), TransferID(most)])
        let all = (1...most + 5).map { Self.large($0, begunAt: 0, mayReturn: false) }
        #expect(TransferMix.surplus(of: all).isEmpty)
    }

    /// Files of drawn sizes in drawn order from many hosts. The scheduler learns a size with the answer, its ticker
    /// checks four times a second, and a stopped transfer ends a moment later.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func whateverTheOrderOfSizesFewAreLargeAndEachIsFetched(seed: UInt64) throws {
        var world = MixWorld(seed: seed)
        world.run()
        #expect(world.isDone, "\(world)")
        // Two ticks after the sizes are known: one to see them, one to stop.
        #expect(world.mostLargeForLong <= TransferMix.mostLargeStarted, "\(world)")
        #expect(world.mostUnderWay <= TransferMix.mostSmall + TransferMix.mostLargeStarted, "\(world)")
        // No file returns twice; and as many as were started at once, each time that large ones follow small ones.
        #expect(world.mostReturnsOfOne <= 1, "\(world)")
        #expect(world.returns <= TransferMix.mostSmall * world.changes, "\(world)")
    }
}
