import Glibc
import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// SDWebImageDownloader's URLCallbacks: one download, many callbacks. Requests are counted at the server.
@Suite struct CoalescingTests {
    static let caller = ManagerFixture.caller
    static let version = SourceVersion.tagged(1, length: 300_000)

    /// A manager with a server that holds `/a` back at 100,000 bytes until the gate opens.
    struct Stalled {
        let fixture: ManagerFixture
        let manager: TransferManager
        let gate = Gate()

        init(change: (inout ManagerSettings) -> Void = { _ in }) async throws {
            fixture = try await ManagerFixture()
            fixture.server.serve("/a", CoalescingTests.version).always(.stall(at: 100_000, until: gate))
            manager = try await fixture.open(change: change)
            try await manager.start()
        }

        func add(
            _ name: String, for caller: Principal = CoalescingTests.caller,
            _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
        ) async throws -> TaskID {
            try await fixture.add("/a", as: name, to: manager, for: caller, change)
        }

        func apply(_ verb: TaskVerb, _ ids: TaskID...) async throws {
            #expect(try await manager.tasks.apply(verb, to: ids, for: CoalescingTests.caller).changed == ids)
        }

        func task(_ id: TaskID) async throws -> TransferTask {
            try await manager.queries.task(id, for: CoalescingTests.caller)
        }

        /// All these have what came so far.
        func halfWay(_ ids: [TaskID]) async throws {
            try await eventually("bytes have come") {
                let progress = await manager.queries.progress(of: ids)
                return progress.count == ids.count && progress.values.allSatisfy { $0.received >= 100_000 }
            }
        }

        func runsEnded(_ ids: TaskID...) async throws {
            for id in ids { try await eventually("the run is over") { await manager.scheduler.runs[id] == nil } }
        }

        func completed(_ ids: [TaskID], names: [String]) async throws {
            for (id, name) in zip(ids, names) {
                let task = try await fixture.end(of: id, in: manager)
                #expect(task.state == .completed, "\(name): \(String(describing: task.error))")
                #expect(task.outcome.finalPath == "\(fixture.downloads)/\(name)")
                #expect(try CoalescingTests.version.equals(file: "\(fixture.downloads)/\(name)"))
                let terminal = try await fixture.events(of: id, in: manager).filter(\.isTerminal)
                #expect(terminal == [.taskCompleted])
            }
        }

        var requests: Int { fixture.server.requests.count }

        /// Nothing but these files is left, and no row of a transfer.
        func end(with names: [String]) async throws {
            gate.open()
            try await eventually("nothing is left over") { try Set(fixture.files()) == Set(names) }
            try await eventually("no transfer is left") {
                try await manager.store.read { try $0.transfers.orphans(limit: 10) }.isEmpty
            }
            try await eventually("no run is left") { await manager.scheduler.runs.isEmpty }
            try await eventually("nothing lives") { await manager.scheduler.transfers.isEmpty }
            await manager.shutdown(.suspend)
        }
    }

    @Test func tenEqualTasksMakeOneRequestAndTenFiles() async throws {
        let stalled = try await Stalled()
        let names = (0..<10).map { "f\($0)" }
        var ids: [TaskID] = []
        for name in names { ids.append(try await stalled.add(name)) }
        try await stalled.halfWay(ids)
        stalled.gate.open()
        try await stalled.completed(ids, names: names)
        #expect(stalled.requests == 1)
        // Files of their own: nothing one user does is seen by another.
        try FileTree.write("mine", to: "\(stalled.fixture.downloads)/f0")
        #expect(try Self.version.equals(file: "\(stalled.fixture.downloads)/f1"))
        try await stalled.end(with: names)
    }

    @Test func sharingTasksInTenDirectoriesGetAFileEach() async throws {
        let stalled = try await Stalled()
        var ids: [TaskID] = []
        for index in 0..<10 {
            let directory = try stalled.fixture.directory.makeDirectory("dir\(index)")
            ids.append(
                try await stalled.add("f") {
                    $0.destination.directory = directory
                })
        }
        try await stalled.halfWay(ids)
        // The directory the bytes lie in is the first one's; it may go.
        try await stalled.apply(.cancel, ids[0])
        stalled.gate.open()
        for (index, id) in ids.enumerated().dropFirst() {
            #expect(try await stalled.fixture.end(of: id, in: stalled.manager).state == .completed)
            #expect(try Self.version.equals(file: stalled.fixture.directory.file("dir\(index)/f")))
        }
        #expect(stalled.requests == 1)
        try await eventually("nothing is left over") {
            try FileTree.entries(below: stalled.fixture.directory.file("dir0")).isEmpty
        }
        try await stalled.end(with: [])
    }

    /// Conflicts, checksums and media types are each task's own affair.
    @Test func conflictsChecksumsAndTypesAreJudgedPerTask() async throws {
        let stalled = try await Stalled()
        let (fixture, manager) = (stalled.fixture, stalled.manager)
        let right = Self.version.checksum(.sha256)
        let wrong = SourceVersion.tagged(9, length: 10).checksum(.sha256)
        try FileTree.write("there", to: fixture.downloads + "/taken")
        let plain = try await stalled.add("plain")
        let checked = try await stalled.add("checked") { $0.checksum = right }
        let mistaken = try await stalled.add("mistaken") { $0.checksum = wrong }
        let picky = try await stalled.add("picky") { $0.request.acceptedTypes = ["image/png"] }
        let skipping = try await stalled.add("taken") { $0.destination.onConflict = .skip }
        let failing = try await stalled.add("taken") { $0.destination.onConflict = .fail }
        let renaming = try await stalled.add("taken")
        stalled.gate.open()
        func end(_ id: TaskID) async throws -> TransferTask { try await fixture.end(of: id, in: manager) }
        #expect(try await end(plain).state == .completed)
        #expect(try await end(checked).state == .completed)
        #expect(try await end(mistaken).error?.reason == .checksumMismatch)
        #expect(try await end(picky).error?.reason == .unacceptableType)
        #expect(try await end(skipping).outcome.skipped)
        #expect(try await end(failing).state == .failed)
        #expect(try await end(renaming).outcome.finalPath == fixture.downloads + "/taken (1)")
        // One for all, and one past caches for the task with the wrong checksum.
        #expect(stalled.requests == 2)
        try await stalled.end(with: ["plain", "checked", "taken", "taken (1)"])
        #expect(try FileTree.text(fixture.downloads + "/taken") == "there")
    }

    @Test(arguments: [0, 1, 4]) func cancellingOneSharingTaskLeavesTheOthers(index: Int) async throws {
        let stalled = try await Stalled()
        let names = (0..<5).map { "f\($0)" }
        var ids: [TaskID] = []
        for name in names { ids.append(try await stalled.add(name)) }
        try await stalled.halfWay(ids)
        try await stalled.apply(.cancel, ids[index])
        try await stalled.runsEnded(ids[index])
        #expect(stalled.fixture.server.openConnectionCount == 1)
        stalled.gate.open()
        let kept = ids.indices.filter { $0 != index }
        try await stalled.completed(kept.map { ids[$0] }, names: kept.map { names[$0] })
        #expect(stalled.requests == 1)
        #expect(try await stalled.fixture.events(of: ids[index], in: stalled.manager).last == .taskCancelled)
        try await stalled.end(with: kept.map { names[$0] })
    }

    @Test func theTransferStopsWhenItsLastTaskLeaves() async throws {
        let stalled = try await Stalled()
        let ids = [try await stalled.add("a"), try await stalled.add("b"), try await stalled.add("c")]
        try await stalled.halfWay(ids)
        try await stalled.apply(.cancel, ids[0])
        try await stalled.apply(.pause, ids[1])
        try await stalled.runsEnded(ids[0], ids[1])
        #expect(stalled.fixture.server.openConnectionCount == 1)
        try await stalled.apply(.pause, ids[2])
        try await stalled.runsEnded(ids[2])
        try await eventually("the transfer is over") { await stalled.manager.scheduler.transfers.isEmpty }
        // Paused tasks keep the bytes, and one of them is enough.
        try await stalled.apply(.cancel, ids[1])
        stalled.gate.open()
        try await stalled.apply(.resume, ids[2])
        try await stalled.completed([ids[2]], names: ["c"])
        #expect(stalled.fixture.server.requests.map { $0.header("Range") != nil } == [false, true])
        try await stalled.end(with: ["c"])
    }

    @Test func aTaskThatJoinsLateGetsAllBytes() async throws {
        let stalled = try await Stalled()
        let first = try await stalled.add("first")
        try await stalled.halfWay([first])
        let late = try await stalled.add("late")
        try await stalled.halfWay([late])
        stalled.gate.open()
        try await stalled.completed([first, late], names: ["first", "late"])
        #expect(stalled.requests == 1)
        #expect(
            try await stalled.fixture.events(of: late, in: stalled.manager)
                == [.taskAdded, .taskStarted, .taskResponse, .taskCompleted])
        try await stalled.end(with: ["first", "late"])
    }

    @Test func aPausedTaskContinuesWithTheOthers() async throws {
        let stalled = try await Stalled()
        let ids = [try await stalled.add("a"), try await stalled.add("b")]
        try await stalled.halfWay(ids)
        for id in ids {
            try await stalled.apply(.pause, id)
            try await stalled.runsEnded(id)
            try await stalled.apply(.resume, id)
            try await stalled.halfWay(ids)
        }
        stalled.gate.open()
        try await stalled.completed(ids, names: ["a", "b"])
        #expect(stalled.requests == 1)
        try await stalled.end(with: ["a", "b"])
    }

    /// A paused one keeps the bytes while the others end; later it has them without another request.
    @Test func aTaskPausedAtTheEndStillGetsTheBytes() async throws {
        let stalled = try await Stalled()
        let ids = [try await stalled.add("a"), try await stalled.add("b")]
        try await stalled.halfWay(ids)
        try await stalled.apply(.pause, ids[0])
        try await stalled.runsEnded(ids[0])
        stalled.gate.open()
        try await stalled.completed([ids[1]], names: ["b"])
        try await stalled.apply(.resume, ids[0])
        try await stalled.completed([ids[0]], names: ["a"])
        #expect(stalled.requests == 1)
        try await stalled.end(with: ["a", "b"])
    }

    @Test func otherRequestsAreNotShared() async throws {
        let stalled = try await Stalled()
        let other = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let changes: [@Sendable (inout TaskSpecification) -> Void] = [
            { _ in },
            { $0.request.headers = [HeaderField(name: "Accept-Language", value: "de")] },
            { $0.request.credential = Credential(scheme: .bearer, user: "", secret: .value("token")) },
            { $0.coalesces = false },
            { $0.coalesces = false },
            { $0.resumesUnsafely = true },
            { $0.destination.onConflict = .update },
        ]
        var ids: [TaskID] = []
        for (index, change) in changes.enumerated() { ids.append(try await stalled.add("f\(index)", change)) }
        // The sixth slot.
        _ = try await stalled.manager.tasks.apply(.cancel, to: [ids.removeLast()], for: Self.caller)
        let theirs = try await stalled.add("theirs", for: other)
        stalled.gate.open()
        for id in ids + [theirs] {
            let task = try await stalled.fixture.end(of: id, in: stalled.manager)
            #expect(task.state == .completed, "\(id): \(String(describing: task.error))")
        }
        #expect(Set(ids.map(\.rawValue)).count == 6 && stalled.requests >= 7)
        await stalled.manager.shutdown(.suspend)
    }

    @Test func ownersShareIfTheOperatorAllowsIt() async throws {
        let stalled = try await Stalled { $0.sharesBetweenOwners = true }
        let other = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let ids = [try await stalled.add("mine"), try await stalled.add("theirs", for: other)]
        try await stalled.halfWay(ids)
        stalled.gate.open()
        try await stalled.completed(ids, names: ["mine", "theirs"])
        #expect(stalled.requests == 1)
        try await stalled.end(with: ["mine", "theirs"])
    }

    /// Limits count transfers: the first takes the only slot, twenty join it, and another URL has to wait.
    @Test func aTaskThatJoinsNeedsNoTransferSlot() async throws {
        let stalled = try await Stalled { $0.maxActive = 1 }
        stalled.fixture.server.serve("/b", .tagged(2, length: 1000))
        var ids: [TaskID] = []
        for index in 0..<10 { ids.append(try await stalled.add("f\(index)")) }
        let other = try await stalled.fixture.add("/b", as: "b", to: stalled.manager)
        for index in 10..<20 { ids.append(try await stalled.add("f\(index)")) }
        try await stalled.halfWay(ids)
        #expect(try await stalled.task(other).state == .queued)
        #expect(await stalled.manager.scheduler.machine.activeCount == 1)
        stalled.gate.open()
        try await stalled.completed(ids, names: (0..<20).map { "f\($0)" })
        #expect(try await stalled.fixture.end(of: other, in: stalled.manager).state == .completed)
        #expect(stalled.requests == 2)
        try await stalled.end(with: (0..<20).map { "f\($0)" } + ["b"])
    }

    @Test func aRetriedTaskJoinsARunningTransfer() async throws {
        let stalled = try await Stalled()
        let path = stalled.fixture.downloads + "/failed"
        try FileTree.write("there", to: path)
        let failed = try await stalled.add("failed") { $0.destination.onConflict = .fail }
        #expect(try await stalled.fixture.end(of: failed, in: stalled.manager).state == .failed)
        FileTree.remove(path)
        let running = try await stalled.add("running")
        try await stalled.halfWay([running])
        try await stalled.apply(.retry, failed)
        try await stalled.halfWay([failed])
        stalled.gate.open()
        #expect(try await stalled.fixture.end(of: failed, in: stalled.manager).state == .completed)
        #expect(try await stalled.fixture.end(of: running, in: stalled.manager).state == .completed)
        #expect(stalled.requests == 1)
        try await stalled.end(with: ["failed", "running"])
    }

    /// One gives up, the other goes on trying, and its bytes are still there.
    @Test func eachSharingTaskHasItsOwnRetryLimits() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version, faults: [[.drop(after: 100_000)]])
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.pause(stopsRunning: false)
        let impatient = try await fixture.add("/a", as: "impatient", to: manager) {
            $0.retry = RetryLimits(maxRetries: 0, retryFor: 0)
        }
        let patient = try await fixture.add("/a", as: "patient", to: manager)
        try await manager.queue.resume()
        #expect(try await fixture.end(of: patient, in: manager).state == .completed)
        let failed = try await fixture.end(of: impatient, in: manager)
        #expect(failed.state == .failed)
        #expect(fixture.server.requests.map { $0.header("Range") != nil } == [false, true])
        // It kept what it had: all of it, by now.
        _ = try await manager.tasks.apply(.retry, to: [impatient], for: Self.caller)
        #expect(try await fixture.end(of: impatient, in: manager).state == .completed)
        #expect(try Self.version.equals(file: fixture.downloads + "/impatient"))
        #expect(fixture.server.requests.count == 2)
        await manager.shutdown(.suspend)
    }

    /// UIView+WebCache: setting the same URL again keeps the download that runs.
    @Test func aSlotsNewTaskTakesOverTheBytesOfAnEqualOne() async throws {
        let stalled = try await Stalled()
        var last = try await stalled.add("f0") { $0.slot = "view" }
        try await stalled.halfWay([last])
        for index in 1..<20 {
            let next = try await stalled.add("f\(index)") { $0.slot = "view" }
            #expect(try await stalled.task(last).state == .cancelled)
            last = next
        }
        try await stalled.halfWay([last])
        stalled.gate.open()
        try await stalled.completed([last], names: ["f19"])
        // A second request is of a task that waited and tried again, or of one that missed the transfer.
        let waits = try await stalled.manager.store.read {
            try $0.events.list(since: 0, types: [.taskWaiting], taskIDs: [], limit: 100)
        }
        #expect(stalled.requests == 1, "\(stalled.fixture.server.requests), \(waits)")
        try await stalled.end(with: ["f19"])
    }

    /// No task starts while those that waited for the network are woken, as at each start.
    @Test func aSlotsNewTaskTakesOverTheBytesAlsoWhileTasksAreWoken() async throws {
        let stalled = try await Stalled()
        let scheduler = stalled.manager.scheduler
        let first = try await stalled.add("f0") { $0.slot = "view" }
        try await stalled.halfWay([first])
        await scheduler.hold(.waking)
        async let added = stalled.add("f1") { $0.slot = "view" }
        try await eventually("the first task waits to leave") { await scheduler.holds.wakingWaiters.count == 1 }
        await scheduler.release(.waking)
        await scheduler.schedule()
        let second = try await added
        #expect(try await stalled.task(first).state == .cancelled)
        try await stalled.halfWay([second])
        stalled.gate.open()
        try await stalled.completed([second], names: ["f1"])
        #expect(stalled.requests == 1)
        try await stalled.end(with: ["f1"])
    }

    /// Other headers make it another request: the task leaves the bytes to the others.
    @Test func aTaskWhoseRequestChangesLeavesTheTransfer() async throws {
        let stalled = try await Stalled()
        let ids = [try await stalled.add("a"), try await stalled.add("b")]
        try await stalled.halfWay(ids)
        for id in ids { try await stalled.apply(.pause, id) }
        try await stalled.runsEnded(ids[0], ids[1])
        let changed = try await stalled.manager.tasks.update(
            ids[0],
            .changing { $0.headers = HeaderList([HeaderField(name: "X-A", value: "b")]) }, for: Self.caller)
        #expect(changed.transferID == nil && changed.received == 0)
        let kept = try await stalled.task(ids[1])
        #expect(kept.transferID != nil && kept.received > 0)
        stalled.gate.open()
        for id in ids { try await stalled.apply(.resume, id) }
        try await stalled.completed(ids, names: ["a", "b"])
        #expect(stalled.requests == 3)
        try await stalled.end(with: ["a", "b"])
    }

    /// The highest limit of the tasks that share the transfer.
    @Test func theHighestLimitOfTheRemainingTasksApplies() async throws {
        let stalled = try await Stalled()
        let fast = try await stalled.add("fast")
        try await stalled.halfWay([fast])
        let slow = try await stalled.add("slow") { $0.maxReceiveRate = 1000 }
        try await stalled.halfWay([slow])
        func rate() async -> Int64? {
            await stalled.manager.scheduler.transfers.values.first?.shared?.attemptState.maxRates.receive
        }
        #expect(await rate() == 0)
        try await stalled.apply(.cancel, fast)
        try await eventually("the limit holds") { await rate() == 1000 }
        _ = try await stalled.manager.tasks.update(
            slow, .changing { $0.limits.maxReceiveRate = .set(0) }, for: Self.caller)
        #expect(await rate() == 0)
        stalled.gate.open()
        try await stalled.completed([slow], names: ["slow"])
        #expect(stalled.requests == 1)
        try await stalled.end(with: ["slow"])
    }

    /// The bytes are in another task's directory, which was renamed: a task that does not need it goes on without them.
    @Test func aTaskWithAnAvailableDirectoryDoesNotWaitForAnothers() async throws {
        let stalled = try await Stalled()
        let theirs = try stalled.fixture.directory.makeDirectory("theirs")
        let first = try await stalled.add("first") { $0.destination.directory = theirs }
        let second = try await stalled.add("second")
        try await stalled.halfWay([first, second])
        for id in [first, second] { try await stalled.apply(.pause, id) }
        try await stalled.runsEnded(first, second)
        #expect(rename(theirs, theirs + "-away") == 0)
        stalled.gate.open()
        try await stalled.apply(.resume, second)
        // It may have gone on in its own directory already.
        try await eventually("it waits or has ended") {
            let state = try await stalled.task(second).state
            return state == .waiting || state == .completed
        }
        try await stalled.completed([second], names: ["second"])
        #expect(rename(theirs + "-away", theirs) == 0)
        try await stalled.apply(.resume, first)
        #expect(try await stalled.fixture.end(of: first, in: stalled.manager).state == .completed)
        #expect(try Self.version.equals(file: theirs + "/first"))
        try await stalled.end(with: ["second"])
    }

    /// After a restart the five are still one transfer, which goes on where it was.
    @Test func sharingTasksContinueTogetherAfterARestart() async throws {
        let stalled = try await Stalled()
        var ids: [TaskID] = []
        for index in 0..<5 { ids.append(try await stalled.add("f\(index)")) }
        try await stalled.halfWay(ids)
        await stalled.manager.shutdown(.suspend)
        stalled.gate.open()
        let next = try await stalled.fixture.open()
        try await next.start()
        for (index, id) in ids.enumerated() {
            #expect(try await stalled.fixture.end(of: id, in: next).state == .completed)
            #expect(try Self.version.equals(file: "\(stalled.fixture.downloads)/f\(index)"))
        }
        #expect(stalled.fixture.server.requests.map { $0.header("Range") != nil } == [false, true])
        try await eventually("nothing is left over") { try stalled.fixture.files().count == 5 }
        await next.shutdown(.suspend)
    }
}
