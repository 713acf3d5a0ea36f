import Glibc
import NIOConcurrencyHelpers
import Testing
import XferCore
import XferFiles
import XferModel
import XferProtocol
import XferSystem
import XferTestSupport

@testable import XferManager
@testable import XferStore

/// Downloads whose start is committed with their end, and how ordinary runs take over.
@Suite struct BriefRunTests {
    private static let whole: [EventType] = [.taskAdded, .taskStarted, .taskResponse, .taskCompleted]
    private static let small = SourceVersion.tagged(1, length: 4096)

    /// Starts the manager, which then knows that the directory takes files: otherwise the first task would be an ordinary
    /// one.
    private func begin(
        _ manager: TransferManager, _ fixture: ManagerFixture, for caller: Principal = ManagerFixture.caller
    ) async throws {
        try await manager.start()
        let identity = try DirectoryHandle(ofService: fixture.downloads).identity
        // As the scheduler asks for a destination that says nothing of hidden names.
        let roots = manager.services.rights.roots(of: caller.owner).limited(
            by: .noHiddenNamesInHomes(configured: fixture.downloads))
        try await eventually("the directory is known") {
            manager.context.directories.takesFiles(fixture.downloads, identity, roots)
        }
    }

    /// A user whose files are written with its own rights, where the service has those of root.
    private static func guest(_ fixture: ManagerFixture) -> Principal {
        Principal(owner: Owner(uid: 1001), isOperator: false, groups: [1001], roots: [fixture.directory.path])
    }

    @Test(arguments: [false, true])
    func aSmallDownloadEndsWithoutATransferAndTellsWhatAnyOtherTells(isGuests: Bool) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.small)
        let manager = try await fixture.open()
        let caller = isGuests ? Self.guest(fixture) : ManagerFixture.caller
        try await begin(manager, fixture, for: caller)
        let id = try await fixture.add("/a", as: "a", to: manager, for: caller) { specification in
            specification.checksum = Self.small.checksum()
        }
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed && task.received == 4096 && task.total == 4096 && task.attempts == 1)
        #expect(task.outcome.finalPath == fixture.downloads + "/a" && task.outcome.httpStatus == 200)
        #expect(try await fixture.events(of: id, in: manager) == Self.whole)
        #expect(try Self.small.equals(file: fixture.downloads + "/a"))
        let (intents, published, transfer) = try await manager.store.read { reader in
            (
                try reader.briefIntents.all().count, try reader.publishedFiles.find(of: id),
                try reader.transfers.find(TransferID(1))
            )
        }
        #expect(intents == 0 && published?.length == 4096 && transfer == nil)
        var facts = stat()
        #expect(stat(fixture.downloads + "/a", &facts) == 0)
        #expect(facts.st_uid == (isGuests && getuid() == 0 ? caller.owner.rawValue : geteuid()))
        await manager.shutdown(.suspend)
    }

    /// The path is opened again with the guest's rights when the body has come.
    @Test(.enabled(if: getuid() == 0, "needs root"))
    func aGuestsDirectoryThatBecomesALinkReceivesNoFile() async throws {
        let (fixture, gate) = (try await ManagerFixture(), Gate())
        fixture.server.serve("/a", Self.small).always(.stall(at: 1000, until: gate))
        let hers = try fixture.directory.makeDirectory("hers", mode: 0o700)
        let manager = try await fixture.open()
        let guest = Self.guest(fixture)
        try await begin(manager, fixture, for: guest)
        let id = try await fixture.add("/a", as: "a", to: manager, for: guest)
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        let isBrief = await manager.scheduler.briefs.runs[id] != nil
        #expect(rename(fixture.downloads, fixture.downloads + ".away") == 0 && symlink(hers, fixture.downloads) == 0)
        gate.open()
        #expect(try await fixture.end(of: id, in: manager).error?.reason == .destinationDenied)
        for directory in [hers, fixture.downloads + ".away"] {
            #expect(try FileTree.entries(below: directory).filter { !$0.hasPrefix(".") }.isEmpty)
        }
        #expect(isBrief)
        await manager.shutdown(.suspend)
    }

    /// The directory is moved when the file is about to get its name, or has it: the file is not left in a directory of
    /// another path, and comes when the directory is back.
    @Test(arguments: [false, true]) func aDirectoryThatIsMovedMeanwhileKeepsNoFile(isGuests: Bool) async throws {
        let (fixture, gate) = (try await ManagerFixture(), Gate())
        fixture.server.serve("/a", Self.small).next([.stall(at: 1000, until: gate)])
        let manager = try await fixture.open()
        let caller = isGuests ? Self.guest(fixture) : ManagerFixture.caller
        try await begin(manager, fixture, for: caller)
        let id = try await fixture.add("/a", as: "a", to: manager, for: caller)
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        // The commit thread is kept, so that the directory is moved after the file was written and before the intent is
        // committed.
        let lock = ThreadGate()
        async let kept: Void = manager.store.write { _ in lock.pass() }
        await lock.arrived()
        gate.open()
        // Other writes may wait, too.
        try await eventually("the intent is to be committed") {
            await manager.scheduler.briefs.publishing.contains(id) && manager.store.waitingWrites > 1
        }
        let away = fixture.downloads + ".away"
        #expect(rename(fixture.downloads, away) == 0)
        lock.open()
        try await kept
        try await eventually("an ordinary run has found out") {
            try await manager.queries.task(id, for: ManagerFixture.caller).wait?.reason == .destinationUnavailable
        }
        #expect(try FileTree.entries(below: away).filter { !$0.hasPrefix(".") }.isEmpty)
        #expect(try await manager.store.read { try $0.briefIntents.all() }.isEmpty)
        #expect(rename(away, fixture.downloads) == 0)
        for verb in [TaskVerb.pause, .resume] {
            _ = try await manager.tasks.apply(verb, to: [id], for: ManagerFixture.caller)
        }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try Self.small.equals(file: fixture.downloads + "/a"))
        await manager.shutdown(.suspend)
    }

    private static func body(_ id: Int64, of owner: Owner, in directory: String) -> BriefBody {
        let url = HTTPURL(scheme: .http, host: "127.0.0.1", port: 80, target: "/\(id)")
        let specification = TaskSpecification(
            owner: owner, request: TransferRequest(url: url),
            destination: Destination(directory: directory, name: "\(id)"))
        let task = TransferTask(
            id: TaskID(id), specification: specification, state: .queued, rank: id, createdAt: Timestamp(seconds: 0))
        return BriefBody(
            task: task, startedAt: Timestamp(seconds: 0), arrivedAt: MonotonicInstant(nanoseconds: 0), bytes: [],
            head: ResponseHead(status: 200), finalURL: url)
    }

    /// An ordinary run replaces a file, with the same attempt.
    @Test(arguments: [false, true]) func aSmallFileUnderOverwriteReplacesAFileOrTakesAFreeName(isTaken: Bool)
        async throws
    {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.small)
        let path = fixture.downloads + "/a"
        if isTaken { try FileTree.write("old", to: path) }
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.destination.onConflict = .overwrite }
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .completed && task.outcome.finalPath == path)
        #expect(try Self.small.equals(file: path))
        #expect(fixture.server.requests.count == 1)
        #expect(try fixture.files() == ["a"])
        let transfer = try await manager.store.read { try $0.transfers.find(TransferID(1)) }
        #expect(transfer == nil, "it went with the end")
        let last = try await manager.store.read { try $0.transfers.lastID() }
        #expect((last == TransferID(0)) == !isTaken, "only a replacement has an ordinary run")
        await manager.shutdown(.suspend)
    }

    /// Two owners' files for one directory are published with the rights of each.
    @Test func ownersOfOneDirectoryHaveRoundsOfTheirOwn() async throws {
        let fixture = try await ManagerFixture()
        let owners = [ManagerFixture.caller.owner, Self.guest(fixture).owner]
        var briefs = BriefRuns()
        let bodies = (1...4).map { Self.body($0, of: owners[Int($0 + 1) % 2], in: "/d") }
        for body in bodies { briefs.append(body) }
        let places = bodies.prefix(2).map { BriefRuns.Place($0.task.specification) }
        #expect(briefs.removeRound(of: places[0]).map(\.task.id) == [TaskID(1), TaskID(3)])
        #expect(briefs.removeRound(of: places[0]).isEmpty)
        #expect(briefs.removeRound(of: places[1]).map(\.task.id) == [TaskID(2), TaskID(4)])
        #expect(briefs.ready.isEmpty)
    }

    /// The disk of one directory does not answer: what waits behind its round is taken back, and no other directory waits.
    @Test func directoriesOfOneOwnerHaveRoundsOfTheirOwn() {
        let owner = ManagerFixture.caller.owner
        var briefs = BriefRuns()
        let count = BriefPublisher.largestRound + 2
        for id in 1...count { briefs.append(Self.body(Int64(id), of: owner, in: "/hangs")) }
        briefs.append(Self.body(1000, of: owner, in: "/d"))
        let (hanging, other) = (
            BriefRuns.Place(Self.body(1, of: owner, in: "/hangs").task.specification),
            BriefRuns.Place(Self.body(1, of: owner, in: "/d").task.specification)
        )
        let begin = Clocks.monotonic()
        briefs.rounds[hanging] = BriefRuns.Round(begunAt: begin)
        #expect(briefs.removeRound(of: hanging).count == BriefPublisher.largestRound)
        #expect(briefs.removeRound(of: other).map(\.task.id) == [TaskID(1000)])
        #expect(briefs.removeReady(behindRoundsBefore: begin).isEmpty)
        let later = begin.advanced(by: .microseconds(1))
        #expect(briefs.removeReady(behindRoundsBefore: later).count == 2)
        #expect(briefs.ready.isEmpty)
    }

    /// What another client asks for and is refused, in the commit of a scheduling pass, makes the pass execute twice.
    @Test func aTaskStartsAlthoughARefusedWriteSharesTheCommitOfItsPass() async throws {
        struct Refused: Error {}
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.small)
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        await manager.scheduler.hold(.pausedByOperator)
        let id = try await fixture.add("/a", as: "a", to: manager)
        await manager.scheduler.passEnded()
        // The commit thread is kept until the pass and the refused write both wait for it.
        let lock = ThreadGate()
        let kept = Task { try await manager.store.write { _ in lock.pass() } }
        defer { lock.open() }
        await lock.arrived()
        let others = manager.store.waitingWrites
        await manager.scheduler.release(.pausedByOperator)
        await manager.scheduler.schedule()
        try await eventually("the pass waits for its commit") { manager.store.waitingWrites > others }
        let refused = Task { try await manager.store.write { _ in throw Refused() } }
        try await eventually("both wait") { manager.store.waitingWrites > others + 1 }
        lock.open()
        try await kept.value
        await #expect(throws: Refused.self) { try await refused.value }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try await fixture.events(of: id, in: manager) == Self.whole)
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func tasksStartAndEndAlthoughEveryWriteIsExecutedTwice() async throws {
        let fixture = try await ManagerFixture()
        for index in 0..<20 { fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 100)) }
        let manager = try await fixture.open(change: { $0.repeatsWrites = true })
        try await begin(manager, fixture)
        var ids: [TaskID] = []
        for index in 0..<20 { ids.append(try await fixture.add("/\(index)", as: "\(index)", to: manager)) }
        for id in ids {
            #expect(try await fixture.end(of: id, in: manager).state == .completed)
            #expect(try await fixture.events(of: id, in: manager) == Self.whole)
        }
        #expect(fixture.server.requests.count == 20)
        await manager.shutdown(.suspend)
    }

    @Test func equalNamesGetNumbers() async throws {
        let fixture = try await ManagerFixture()
        for index in 0..<40 { fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 100)) }
        try FileTree.write("there", to: fixture.downloads + "/a")
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        var ids: [TaskID] = []
        for index in 0..<40 { ids.append(try await fixture.add("/\(index)", as: "a", to: manager)) }
        var paths: Set<String> = []
        for id in ids { paths.insert(try #require(try await fixture.end(of: id, in: manager).outcome.finalPath)) }
        #expect(paths == Set((1...40).map { "\(fixture.downloads)/a (\($0))" }))
        #expect(try FileTree.text(fixture.downloads + "/a") == "there")
        await manager.shutdown(.suspend)
    }

    /// Longer than what is kept in memory, of unknown length, empty.
    @Test(arguments: [BriefRules.largestBody, BriefRules.largestBody + 1, 3_000_000, 1, 0])
    func aDownloadOfAnyLengthMakesOneRequest(length: Int64) async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(2, length: length)
        fixture.server.serve("/a", version)
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        let id = try await fixture.add("/a", as: "a", to: manager)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try await fixture.events(of: id, in: manager) == Self.whole)
        #expect(try version.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    /// After half a second other programs see that it runs, and it continues with the same request.
    @Test(arguments: [0, 1000]) func aSlowSmallBodyContinuesInAnOrdinaryRun(arrived: Int64) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.small).always(
            arrived == 0 ? .stallHead(until: gate) : .stall(at: arrived, until: gate))
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        let id = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("its start is committed") {
            try await manager.queries.task(id, for: ManagerFixture.caller).state == .running
        }
        gate.open()
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try Self.small.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    /// No verb finds a task that runs and says that it is queued.
    @Test(arguments: [TaskVerb.pause, .cancel]) func aVerbReachesATaskThatRunsInMemory(verb: TaskVerb) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.small).always(.stall(at: 1000, until: gate))
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        let id = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        #expect(try await manager.tasks.apply(verb, to: [id], for: ManagerFixture.caller).changed == [id])
        gate.open()
        try await eventually("nothing runs") {
            let isIdle = await manager.scheduler.runs.isEmpty
            return await manager.scheduler.briefs.runs.isEmpty && isIdle
        }
        let last: EventType = verb == .pause ? .taskPaused : .taskCancelled
        // The head may have come before the stop.
        let events = try await fixture.events(of: id, in: manager).filter { $0 != .taskResponse }
        #expect(events == [.taskAdded, .taskStarted, last])
        #expect(!FileTree.exists(fixture.downloads + "/a"))
        await manager.shutdown(.suspend)
    }

    /// True if this process has an open file without a name, of this length, in the directory.
    private static func hasUnnamedFile(of length: Int64, in directory: String) -> Bool {
        let descriptors = (try? FileTree.names(in: "/proc/self/fd")) ?? []
        return descriptors.contains { descriptor in
            let path = "/proc/self/fd/\(descriptor)"
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlink(path, &target, target.count)
            guard count > 0 else { return false }
            let name = String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
            return name.hasPrefix("\(directory)/#") && FileTree.size(path) == length
        }
    }

    /// The disk hangs after the intent and before the name. The task is free for verbs and says what it waits for. When the
    /// disk answers, the file is the task's, or no file if the task has ended.
    @Test(arguments: [false, true]) func aRoundThatDoesNotAnswerIsLeft(isCancelled: Bool) async throws {
        let (fixture, gate) = (try await ManagerFixture(), Gate())
        fixture.server.serve("/a", Self.small).next([.stall(at: 1000, until: gate)])
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        let id = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        // The commit thread is kept, so that the disk hangs after the file was written and before the intent is committed.
        let lock = ThreadGate()
        let kept = Task { try await manager.store.write { _ in lock.pass() } }
        defer { lock.open() }
        await lock.arrived()
        gate.open()
        try await eventually("its file is written") {
            Self.hasUnnamedFile(of: Self.small.length, in: fixture.downloads)
        }
        // The thread that writes it is the last to arrive.
        let disk = ThreadGate()
        let pool = try fixture.filePool(of: manager)
        let hanging = Task { await disk.hold(pool) }
        defer { disk.open() }
        await disk.arrived(4)
        lock.open()
        try await kept.value
        try await eventually("the intent is committed, or the round was left already") {
            let intents = try await manager.store.read { try $0.briefIntents.all() }
            let isLeft = await manager.scheduler.briefs.runs.isEmpty
            return isLeft || !intents.isEmpty
        }

        await manager.scheduler.leaveRounds(begunBefore: Clocks.monotonic())
        #expect(await manager.scheduler.briefs.runs.isEmpty)
        #expect(try await manager.store.read { try $0.briefIntents.all() }.isEmpty)
        try await eventually("it says what it waits for", within: Patience.long) {
            let task = try await manager.queries.task(id, for: ManagerFixture.caller)
            return task.wait?.reason == .destinationUnavailable
                && task.error?.message.contains("does not answer") == true
        }
        if isCancelled {
            #expect(try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller).changed == [id])
        }

        disk.open()
        await hanging.value
        try await eventually("the round has ended") {
            manager.services.unansweredPublishes.withLockedValue(\.isEmpty)
        }
        if isCancelled {
            // Its bytes are discarded a moment later.
            try await eventually("no file is left") { try fixture.files().isEmpty }
        } else {
            for verb in [TaskVerb.pause, .resume] {
                _ = try await manager.tasks.apply(verb, to: [id], for: ManagerFixture.caller)
            }
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed && task.outcome.finalPath == fixture.downloads + "/a")
            #expect(try Self.small.equals(file: fixture.downloads + "/a"))
            #expect(try fixture.files() == ["a"])
        }
        #expect(fixture.server.requests.count == 1)
        let ends = try await fixture.events(of: id, in: manager).filter { $0.isTerminal }
        #expect(ends == [isCancelled ? .taskCancelled : .taskCompleted])
        await manager.shutdown(.suspend)
    }

    @Test func aWrongDigestFailsAndPublishesNothing() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.small)
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        let wrong = SourceVersion.tagged(9, length: 10).checksum()
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.checksum = wrong }
        #expect(try await fixture.end(of: id, in: manager).error?.reason == .checksumMismatch)
        // The second request passes caches by.
        #expect(fixture.server.requests.map { $0.header("Cache-Control") } == [nil, "no-cache"])
        try await eventually("nothing is left") { try fixture.files().isEmpty }
        await manager.shutdown(.suspend)
    }

    /// A crash between the link and the commit of the end: the file counts, and is not fetched again.
    @Test(arguments: [true, false], [true, false])
    func afterACrashTheNameDecides(wasLinked: Bool, isGuests: Bool) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.small)
        let first = try await fixture.open()
        await first.scheduler.hold(.pausedByOperator)
        let caller = isGuests ? Self.guest(fixture) : ManagerFixture.caller
        let id = try await fixture.add("/a", as: "a", to: first, for: caller)
        let path = fixture.downloads + "/a"
        try FileTree.write(Self.small.bytes, to: wasLinked ? path : fixture.downloads + "/other")
        let directory = try DirectoryHandle(ofService: fixture.downloads)
        let facts = try #require(try directory.facts(of: wasLinked ? "a" : "other"))
        try await first.store.write { tx in
            try tx.briefIntents.insert([(id, PublishIntent(finalName: "a", part: facts))])
        }
        await first.shutdown(.suspend)

        let second = try await fixture.open()
        try await second.start()
        let task = try await fixture.end(of: id, in: second)
        #expect(task.state == .completed && task.outcome.finalPath == path)
        #expect(fixture.server.requests.count == (wasLinked ? 0 : 1))
        #expect(try await second.store.read { try $0.briefIntents.all() }.isEmpty)
        #expect(Set(try fixture.files()) == (wasLinked ? ["a"] : ["a", "other"]))
        await second.shutdown(.suspend)
    }

    /// Another file got the name after the intent: it is not the task's, and stays.
    @Test func afterACrashAnothersFileIsNotTakenForThePublishedOne() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.small)
        let first = try await fixture.open()
        await first.scheduler.hold(.pausedByOperator)
        let id = try await fixture.add("/a", as: "a", to: first)
        try FileTree.write("mine", to: fixture.downloads + "/other")
        try FileTree.write("another", to: fixture.downloads + "/a")
        let directory = try DirectoryHandle(ofService: fixture.downloads)
        let facts = try #require(try directory.facts(of: "other"))
        try await first.store.write { tx in
            try tx.briefIntents.insert([(id, PublishIntent(finalName: "a", part: facts))])
        }
        await first.shutdown(.suspend)

        let second = try await fixture.open()
        try await second.start()
        #expect(try await fixture.end(of: id, in: second).outcome.finalPath == fixture.downloads + "/a (1)")
        #expect(try FileTree.text(fixture.downloads + "/a") == "another")
        await second.shutdown(.suspend)
    }

    @Test func aShutdownLeavesTheTaskQueued() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.small, faults: [[.stallHead(until: gate)]])
        let first = try await fixture.open()
        try await begin(first, fixture)
        let id = try await fixture.add("/a", as: "a", to: first)
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        await first.shutdown(.suspend)
        gate.open()
        let second = try await fixture.open()
        try await second.start()
        #expect(try await fixture.end(of: id, in: second).state == .completed)
        #expect(try await fixture.events(of: id, in: second).filter { $0.isTerminal } == [.taskCompleted])
        await second.shutdown(.suspend)
    }

    /// Whatever selects tasks by their state finds a brief run as one that runs.
    @Test(arguments: Reader.allCases) func aReaderFindsThatItRuns(_ reader: Reader) async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/a", Self.small).always(.stall(at: 1000, until: gate))
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.group = "g" }
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        let caller = ManagerFixture.caller
        switch reader {
        case .get: #expect(try await manager.queries.task(id, for: caller).state == .running)
        case .list:
            let page = try await manager.queries.list(
                TaskQuery(states: [.running]), .ascending, limit: 10, cursor: nil, for: caller)
            #expect(page.tasks.map(\.id) == [id])
        case .counts: #expect(try await manager.queries.counts()[.running] == 1)
        case .stats: #expect(try await manager.queue.stats(for: caller).counts.running == 1)
        case .group: #expect(try await manager.groups.get("g", of: nil, for: caller).counts[.running] == 1)
        case .filter:
            let counts = try await manager.tasks.apply(.pause, to: TaskQuery(states: [.running]), for: caller)
            #expect(counts.changedCount == 1)
        case .updateOfMany:
            let changes = TaskChanges.changing { $0.limits.maxReceiveRate = .set(1 << 30) }
            let counts = try await manager.tasks.update(TaskQuery(states: [.running]), changes, for: caller)
            #expect(counts.changedCount == 1)
        case .pausedQueue:
            try await manager.queue.pause(stopsRunning: true)
            try await eventually("it is queued again") {
                try await manager.queries.task(id, for: caller).state == .queued
            }
            try await manager.queue.resume()
        }
        gate.open()
        if reader == .filter {
            #expect(try await manager.queries.task(id, for: caller).state == .paused)
        } else {
            #expect(try await fixture.end(of: id, in: manager).state == .completed)
        }
        await manager.shutdown(.suspend)
    }

    enum Reader: CaseIterable {
        case get, list, counts, stats, group, filter, updateOfMany, pausedQueue
    }

    /// The bodies in memory are bounded: beyond so many, tasks start in the ordinary way at once.
    @Test func beyondTheBoundTasksStartInTheOrdinaryWay() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        let count = BriefRules.mostFetching + 20
        for index in 0..<count {
            fixture.server.serve("/\(index)", .tagged(UInt64(index), length: 4096)).always(.stallHead(until: gate))
        }
        let manager = try await fixture.open(change: { settings in
            settings.maxActive = 1000
            settings.maxActivePerHost = 1000
        })
        try await begin(manager, fixture)
        var ids: [TaskID] = []
        for index in 0..<count { ids.append(try await fixture.add("/\(index)", as: "\(index)", to: manager)) }
        try await eventually("all are asked for") { fixture.server.requests.count == count }
        #expect(await manager.scheduler.briefs.runs.count <= BriefRules.mostFetching)
        gate.open()
        for id in ids { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        #expect(fixture.server.requests.count == count)
        await manager.shutdown(.suspend)
    }

    // MARK: Leases

    @Test func underALeaseASmallDownloadNeedsNoTransferEither() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.small)
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        try await manager.leases.renew("fleet", until: Clocks.monotonic().advanced(by: .seconds(3600)))
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.lease = "fleet" }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try await fixture.events(of: id, in: manager) == Self.whole)
        #expect(try await manager.store.read { try $0.transfers.find(TransferID(1)) } == nil)
        await manager.shutdown(.suspend)
    }

    /// A task under a lease in force, of whose body 1,000 bytes have come until the gate opens.
    private func fetchUnderALease(
        _ fixture: ManagerFixture, _ gate: Gate
    ) async throws -> (manager: TransferManager, id: TaskID) {
        fixture.server.serve("/a", Self.small).next([.stall(at: 1000, until: gate)])
        let manager = try await fixture.open()
        try await begin(manager, fixture)
        try await manager.leases.renew("fleet", until: Clocks.monotonic().advanced(by: .seconds(3600)))
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.schedule.lease = "fleet" }
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        return (manager, id)
    }

    /// Expects that the run ends without a file, and that there is one once the lease is in force again.
    private func expectAFileOnlyUnderTheLease(
        _ fixture: ManagerFixture, _ manager: TransferManager, _ id: TaskID
    ) async throws {
        try await eventually("nothing runs") {
            let isIdle = await manager.scheduler.runs.isEmpty
            return await manager.scheduler.briefs.runs.isEmpty && isIdle
        }
        #expect(!FileTree.exists(fixture.downloads + "/a"))
        #expect(try await manager.store.read { try $0.briefIntents.all() }.isEmpty)
        try await manager.leases.renew("fleet", until: Clocks.monotonic().advanced(by: .seconds(3600)))
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try Self.small.equals(file: fixture.downloads + "/a"))
    }

    @Test func aLeaseThatEndsDuringTheRequestStopsIt() async throws {
        let (fixture, gate) = (try await ManagerFixture(), Gate())
        let (manager, id) = try await fetchUnderALease(fixture, gate)
        try await manager.leases.renew("fleet", until: Clocks.monotonic())
        try await eventually("it waits for its lease") {
            try await manager.queries.task(id, for: ManagerFixture.caller).wait?.reason == .lease
        }
        gate.open()
        try await expectAFileOnlyUnderTheLease(fixture, manager, id)
        await manager.shutdown(.suspend)
    }

    /// Another daemon may have the task by then.
    @Test func aLeaseThatEndsBeforeTheFileHasItsNameKeepsItFromGettingOne() async throws {
        let (fixture, gate) = (try await ManagerFixture(), Gate())
        let (manager, id) = try await fetchUnderALease(fixture, gate)
        // The commit thread is kept, so that the lease ends after it was seen to be in force and before the intent is
        // committed.
        let lock = ThreadGate()
        async let kept: Void = manager.store.write { _ in lock.pass() }
        await lock.arrived()
        gate.open()
        // A scheduling pass waits, too.
        try await eventually("the intent is to be committed") { manager.store.waitingWrites > 1 }
        _ = manager.services.leases.renew("fleet", until: Clocks.monotonic())
        lock.open()
        try await kept
        try await expectAFileOnlyUnderTheLease(fixture, manager, id)
        await manager.shutdown(.suspend)
    }
}
