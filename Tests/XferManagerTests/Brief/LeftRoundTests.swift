import NIOConcurrencyHelpers
import Testing
import XferCore
import XferFiles
import XferModel
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// Verbs beside rounds of small files whose disk does not answer.
struct LeftRoundTests {
    /// Every verb is answered while the disk hangs. In the end each task has its file, or has been cancelled and has none.
    @Test(arguments: 0..<UInt64(Campaign.rounds(24)))
    func verbsAreAnsweredWhileTheDiskHangsAndEachTaskEndsOnce(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let fixture = try await ManagerFixture()
        let versions = (0..<8).map { SourceVersion.tagged(UInt64($0), length: 1000 + Int64($0)) }
        for (index, version) in versions.enumerated() { fixture.server.serve("/\(index)", version) }
        let manager = try await fixture.open()
        try await manager.start()
        let identity = try DirectoryHandle(ofService: fixture.downloads).identity
        let roots = manager.services.rights.roots(of: ManagerFixture.caller.owner).limited(
            by: .noHiddenNamesInHomes(configured: fixture.downloads))
        try await eventually("the directory is known, so that small downloads have brief runs") {
            manager.context.directories.takesFiles(fixture.downloads, identity, roots)
        }
        var ids: [TaskID] = []
        for index in versions.indices {
            ids.append(try await fixture.add("/\(index)", as: index < 4 ? "f" : "\(index)", to: manager))
            let disk = ThreadGate()
            let pool = try fixture.filePool(of: manager)
            let hanging = Task { await disk.hold(pool) }
            defer { disk.open() }
            await disk.arrived(4)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let id = ids[Int.random(in: ids.indices, using: &random)]
                let verb = [TaskVerb.pause, .resume, .resume, .cancel][Int.random(in: 0..<4, using: &random)]
                let isAnswered = NIOLockedValueBox(false)
                let call = Task {
                    defer { isAnswered.withLockedValue { $0 = true } }
                    _ = try await manager.tasks.apply(verb, to: [id], for: ManagerFixture.caller)
                }
                try await eventually("\(verb) of \(id) is answered") {
                    await manager.scheduler.leaveRounds(begunBefore: Clocks.monotonic())
                    return isAnswered.withLockedValue(\.self)
                }
                try await call.value
            }
            disk.open()
            await hanging.value
        }

        _ = try await manager.tasks.apply(.resume, to: ids, for: ManagerFixture.caller)
        var names: Set<String> = []
        for (id, version) in zip(ids, versions) {
            let task = try await fixture.end(of: id, in: manager)
            #expect([.completed, .cancelled].contains(task.state), "seed \(seed): \(task.state)")
            let ends = try await fixture.events(of: id, in: manager).filter { $0.isTerminal }
            #expect(ends.count == 1, "seed \(seed): \(ends)")
            guard task.state == .completed, let path = task.outcome.finalPath else { continue }
            #expect(try version.equals(file: path), "seed \(seed): \(path)")
            #expect(names.insert(path).inserted, "seed \(seed): \(path) was given twice")
        }
        try await eventually("only files of completed tasks are left", within: Patience.long) {
            Set(try fixture.files().map { "\(fixture.downloads)/\($0)" }) == names
        }
        try await eventually("no round is left") {
            let isNoneLeft = manager.services.unansweredPublishes.withLockedValue(\.isEmpty)
            return try await manager.store.read { try $0.briefIntents.all() }.isEmpty && isNoneLeft
        }
        await manager.shutdown(.suspend)
    }

    /// A start settles what a crash has left of small files, and waits for no disk that hangs.
    @Test func theRecoveryOfASmallFileEndsAlthoughTheDiskHangs() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let directory = try DirectoryHandle(ofService: fixture.downloads)
        try FileTree.write("mine", to: fixture.downloads + "/a")
        let intent = PublishIntent(finalName: "a", part: try #require(try directory.facts(of: "a")))
        let disk = ThreadGate()
        let pool = try fixture.filePool(of: manager)
        let hanging = Task { await disk.hold(pool) }
        defer { disk.open() }
        await disk.arrived(4)
        await #expect(throws: FileError.self) {
            _ = try await manager.services.recover(intent, partName: nil, in: directory)
        }
        disk.open()
        await hanging.value
        try await eventually("it is recovered") {
            let way = try? await manager.services.recover(intent, partName: nil, in: directory)
            return way == .done
        }
        await manager.shutdown(.suspend)
    }
}
