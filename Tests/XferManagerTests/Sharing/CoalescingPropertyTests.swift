import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// Twenty clients add, cancel, pause and resume at random over five URLs.
///
/// Every task ends once, files are right, and nothing is left over. The server gets no more requests than transfers
/// had to begin.
@Suite struct CoalescingPropertyTests {
    private static let urls = 5
    private static let clients = 20
    private static let rounds = 50
    private static let episodes = Campaign.rounds(10) + 1

    private static func version(_ url: Int) -> SourceVersion {
        SourceVersion.tagged(UInt64(url), length: 150_000 + Int64(url) * 10_000)
    }

    private static func principal(_ client: Int) -> Principal {
        client % 4 == 0
            ? ManagerFixture.caller
            : Principal(owner: Owner(uid: UInt32(1000 + client % 4)), isOperator: false, roots: ["/"])
    }

    /// A task and what it is about.
    private struct Added: Sendable {
        let id: TaskID
        let url: Int
        let name: String
    }

    /// - Parameter isHeldBack: no body ends before all clients are done, so that requests can be counted exactly.
    @Test(arguments: 0..<episodes) func everyTaskOfARandomEpisodeEndsOnceAndGetsItsFile(episode: Int) async throws {
        let isHeldBack = episode.isMultiple(of: 2)
        let fixture = try await ManagerFixture()
        let gate = Gate()
        for url in 0..<Self.urls {
            let served = fixture.server.serve("/\(url)", Self.version(url))
            if isHeldBack {
                // So few at a time that however often it is continued, it does not end.
                served.always(.stall(at: 1000, until: gate))
            } else {
                served.next([.drop(after: 70_000)], [], [.drop(after: 20_000)])
            }
        }
        let manager = try await fixture.open(change: { $0.sharesBetweenOwners = true })
        try await manager.start()
        let added = try await withThrowingTaskGroup(of: [Added].self) { group in
            for client in 0..<Self.clients {
                group.addTask {
                    try await Self.act(as: client, seed: UInt64(episode * 1000 + client), on: manager, fixture)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        _ = try await manager.tasks.apply(.resume, to: TaskQuery(states: [.paused]), for: ManagerFixture.caller)
        try await eventually("no task is queued any more") { try await manager.queries.counts()[.queued] == nil }
        gate.open()
        let seed = "episode \(episode)"
        var published: Set<String> = []
        for task in added {
            // A task that waits for a retry tries now.
            _ = try await manager.tasks.apply(.resume, to: [task.id], for: ManagerFixture.caller)
            let end = try await fixture.end(of: task.id, in: manager)
            let terminal = try await fixture.events(of: task.id, in: manager).filter(\.isTerminal)
            #expect(
                terminal == [end.state == .completed ? .taskCompleted : .taskCancelled], "\(seed), \(task.id): \(end)")
            guard end.state == .completed else { continue }
            published.insert(task.name)
            #expect(try Self.version(task.url).equals(file: "\(fixture.downloads)/\(task.name)"), "\(seed), \(task.id)")
        }
        try await eventually("nothing is left over") { try Set(fixture.files()) == published }
        try await eventually("no transfer is left") {
            try await manager.store.read { try $0.transfers.orphans(limit: 10) }.isEmpty
        }
        let begun = try await Self.begun(added, in: manager)
        for url in 0..<Self.urls where isHeldBack {
            let requests = fixture.server.requests(to: "/\(url)").count
            #expect(requests <= begun[url], "\(seed): \(requests) requests for \(begun[url]) transfers")
        }
        try await eventually("nothing lives") { await manager.scheduler.isAtRest }
        await manager.shutdown(.suspend)
    }

    private static func act(
        as client: Int, seed: UInt64, on manager: TransferManager, _ fixture: ManagerFixture
    ) async throws -> [Added] {
        var random = SplitMix64(seed: seed)
        let caller = principal(client)
        var mine: [Added] = []
        for round in 0..<rounds {
            let verb: TaskVerb? =
                switch Int.random(in: 0..<10, using: &random) {
                case 0...1: .cancel
                case 2...4: .pause
                case 5...7: .resume
                default: nil
                }
            if let verb, let task = mine.randomElement(using: &random) {
                _ = try await manager.tasks.apply(verb, to: [task.id], for: caller)
            } else {
                let url = Int.random(in: 0..<urls, using: &random)
                let name = "c\(client)-\(round)"
                let isPaused = random.chance(0.2)
                // The server's silence is as long as this machine is slow.
                let id = try await fixture.add("/\(url)", as: name, to: manager, startsPaused: isPaused, for: caller) {
                    $0.request.timeouts.idle = 3600
                }
                mine.append(Added(id: id, url: url, name: name))
            }
        }
        return mine
    }

    /// The model: by URL, how often a task started while no other task was active.
    private static func begun(_ added: [Added], in manager: TransferManager) async throws -> [Int] {
        let urlByTask = Dictionary(uniqueKeysWithValues: added.map { ($0.id, $0.url) })
        var active = [Set<TaskID>](repeating: [], count: urls)
        var begun = [Int](repeating: 0, count: urls)
        var seq: Int64 = 0
        while true {
            guard
                case .events(let events, _) = try await manager.queries.events(since: seq, EventFilter(), limit: 1000),
                let last = events.last
            else { return begun }
            seq = last.seq
            for event in events {
                guard let id = event.taskID, let url = urlByTask[id] else { continue }
                switch event.type {
                case .taskStarted:
                    if active[url].isEmpty { begun[url] += 1 }
                    active[url].insert(id)
                case .taskPaused, .taskCancelled, .taskCompleted, .taskFailed, .taskWaiting:
                    active[url].remove(id)
                default:
                    break
                }
            }
        }
    }

    enum Standing: CaseIterable { case queued, paused, waiting, running, verifying }

    /// Ten thousand cancels: whatever the tasks were doing, each has one final event, and nothing of it is left.
    @Test(arguments: Standing.allCases) func tasksCancelledAtAnyMomentEndOnce(standing: Standing) async throws {
        let count = 2000
        let fixture = try await ManagerFixture()
        let gate = Gate()
        let served = fixture.server.serve("/a", .tagged(1, length: 200_000))
        if standing == .running { served.always(.stall(at: 100_000, until: gate)) }
        fixture.server.on("/busy") { _ in Reply.failure(503, retryAfter: "3000") }
        let manager = try await fixture.open()
        let (downloads, url) = (fixture.downloads, fixture.server.url(standing == .waiting ? "/busy" : "/a"))
        let checksum = SourceVersion.tagged(1, length: 200_000).checksum(.sha256)
        let drafts = (0..<count).map { index in
            TaskDraft(url: url) { request in
                var specification = TaskSpecification(
                    owner: Owner(uid: 0), request: request,
                    destination: Destination(directory: downloads, name: "f\(index)"), checksum: checksum)
                specification.startsPaused = standing == .paused
                specification.request.timeouts.idle = 3600
                return specification
            }
        }
        if standing == .queued { try await manager.queue.pause(stopsRunning: false) }
        let disk = ThreadGate()
        let pool = try fixture.digestPool(of: manager)
        if standing == .verifying { Task { await disk.hold(pool) } }
        try await manager.start()
        let ids = try await manager.tasks.add(drafts, for: ManagerFixture.caller).map(\.id)
        try await eventually("they stand as they should", within: Patience.long) {
            switch standing {
            case .queued: return try await manager.queries.counts()[.queued] == Int64(count)
            case .paused: return try await manager.queries.counts()[.paused] == Int64(count)
            case .waiting: return try await manager.queries.counts()[.waiting] == Int64(count)
            case .running:
                let progress = await manager.queries.progress(of: ids)
                return progress.count == count && progress.values.allSatisfy { $0.received >= 100_000 }
            case .verifying:
                return await manager.queries.progress(of: ids).values.contains { $0.phase == .verifying }
            }
        }
        let outcome = try await manager.tasks.apply(.cancel, to: ids, for: ManagerFixture.caller)
        #expect(outcome.changed == ids)
        disk.open()
        gate.open()
        try await eventually("no run is left", within: Patience.long) { await manager.scheduler.runs.isEmpty }
        #expect(try await manager.queries.counts() == [.cancelled: Int64(count)])
        var ended: [TaskID] = []
        var seq: Int64 = 0
        while case .events(let events, _) = try await manager.queries.events(
            since: seq, EventFilter(types: [.taskCancelled, .taskCompleted, .taskFailed]), limit: 1000),
            let last = events.last
        {
            seq = last.seq
            #expect(events.allSatisfy { $0.type == .taskCancelled })
            ended += events.compactMap(\.taskID)
        }
        #expect(ended.sorted() == ids)
        // Tasks that are added when the answer has arrived do not join: a request for each step of the add.
        let mayBeAnswered = standing == .verifying || standing == .waiting
        #expect(fixture.server.requests.count <= (mayBeAnswered ? 10 : 1))
        try await eventually("no bytes are left", within: Patience.long) { try fixture.files().isEmpty }
        try await eventually("no transfer is left", within: Patience.long) {
            try await manager.store.read { try $0.transfers.orphans(limit: 10) }.isEmpty
        }
        try await eventually("nothing lives") { await manager.scheduler.isAtRest }
        await manager.shutdown(.suspend)
    }
}

extension RunScheduler {
    fileprivate var isAtRest: Bool {
        runs.isEmpty && transfers.isEmpty && passes.stops.isEmpty && machine.activeCount == 0
            && machine.runningCount == 0
    }
}
