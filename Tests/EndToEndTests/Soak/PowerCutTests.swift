import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// A power cut, for real: state and downloads on a file system whose image is copied while the daemon is stopped and
/// nothing is written back by itself; each copy is then mounted and the daemon goes on from it.
@Suite(.serialized, .enabled(if: Machine.isSoak && Machine.canMount, "make soak, where file systems can be mounted"))
struct PowerCutTests {
    /// What was known for certain when the power went.
    private struct Cut {
        let image: String
        let answered: Set<Int64>
        let completed: Set<Int64>
    }

    @Test func aPowerCutLosesNoAnsweredCallAndBreaksNoCompletedFile() async throws {
        let big = SourceVersion.tagged(200, length: 96 << 20)
        let small = (0..<80).map { SourceVersion.tagged(201 + $0, length: 1000 + Int64($0) * 5003) }
        var slow = NginxFixture.Options()
        slow.limitRate = 6 << 20
        let nginx = try await NginxFixture(slow)
        for source in [big] + small { try nginx.publish(source, as: "\(source.seed)") }

        let disk = try await LoopFileSystem(megabytes: 512)
        let writeBack = try WriteBackOff()
        var options = DaemonFixture.Options()
        options.downloads = "\(disk.path)/downloads"
        options.stateDirectory = "\(disk.path)/state"
        for directory in [options.downloads, options.stateDirectory] { mkdir(try #require(directory), 0o700) }
        // The directories themselves are there before anything is promised.
        sync()
        let daemon = try DaemonFixture(options)

        let (cuts, sources) = try await run(daemon, disk, nginx, big: big, small: small)
        await daemon.kill9()
        for cut in cuts {
            try await disk.replace(with: cut.image)
            try await goOn(daemon, from: cut, sources)
        }
        try await disk.detach()
        for cut in cuts { try await disk.check(cut.image) }
        withExtendedLifetime(writeBack) {}
    }

    /// A hundred cuts among downloads whose starts are not committed: each image has some of their files on the way
    /// from the intent to the end.
    @Test func aPowerCutAmongSmallDownloadsPublishesEachOnce() async throws {
        let sources = (0...1500).map { SourceVersion.tagged(400 + $0, length: 100 + Int64($0 % 40) * 397) }
        let nginx = try await NginxFixture(NginxFixture.Options())
        for source in sources { try nginx.publish(source, as: "\(source.seed)") }
        let writeBack = try WriteBackOff()
        var random = SplitMix64(seed: 400)
        var (withIntents, intents) = (0, 0)
        for _ in 0..<10 {
            let disk = try await LoopFileSystem(megabytes: 96)
            var options = DaemonFixture.Options()
            options.downloads = "\(disk.path)/downloads"
            options.stateDirectory = "\(disk.path)/state"
            options.settings = ["queue": ["max_active": "32", "max_active_per_host": "32"]]
            for directory in [options.downloads, options.stateDirectory] { mkdir(try #require(directory), 0o700) }
            sync()
            let daemon = try DaemonFixture(options)
            try await daemon.start()
            // The directory is known from then on, so that the others are brief.
            _ = try await daemon.complete(try await daemon.add(nginx.url("/\(sources[0].seed)")))
            let session = try daemon.session()
            _ = try await session.call("events.subscribe", ["types": ["task.completed"]])
            func completed() -> Set<Int64> { Set(session.events.compactMap { $0["task_id"]?.integerValue }) }
            var cuts: [Cut] = []
            var byID: [Int64: SourceVersion] = [:]
            for number in 0..<10 {
                let new = sources[number * 150 + 1...number * 150 + 150]
                let tasks = new.map { source -> JSONValue in
                    ["url": .string(nginx.url("/\(source.seed)")), "output": .string("\(source.seed)")]
                }
                let answer = try await daemon.call("task.add", ["tasks": .array(tasks)])
                let ids = try #require(answer["ids"]?.arrayValue).compactMap(\.integerValue)
                for (id, source) in zip(ids, new) { byID[id] = source }
                // Names come before ends: at this moment a group is on its way, as a rule.
                let wanted = 1 + number * 150 + Int.random(in: 1...60, using: &random)
                try await eventually("\(wanted) files have their names", within: Patience.long) {
                    try daemon.downloaded.count >= wanted
                }
                let (known, done) = (Set(byID.keys), completed())
                daemon.process?.signal(SIGSTOP)
                cuts.append(Cut(image: try await disk.snapshot("cut\(number)"), answered: known, completed: done))
                daemon.process?.signal(SIGCONT)
            }
            await daemon.kill9()
            for cut in cuts {
                try await disk.replace(with: cut.image)
                let found = try await daemon.leftByCrash().intended.count
                (withIntents, intents) = (withIntents + (found > 0 ? 1 : 0), intents + found)
                try await goOn(daemon, from: cut, byID)
                #expect(try daemon.downloaded.count == cut.answered.count + 1, "\(cut.image): each file once")
            }
            try await disk.detach()
            for cut in cuts { try await disk.check(cut.image) }
        }
        print("power cuts among small downloads: 100 images, \(withIntents) with intents, \(intents) in all")
        #expect(withIntents > 0)
        withExtendedLifetime(writeBack) {}
    }

    /// Without a journal a file's name and its count of links reach the disk apart: only a sync of the file after it got
    /// its name keeps it.
    @Test(arguments: [LoopFileSystem.Kind.ext2, .ext4WithoutJournal])
    func aPowerCutWithoutAJournalLosesNoCompletedSmallDownload(kind: LoopFileSystem.Kind) async throws {
        let sources = (0...300).map { SourceVersion.tagged(700 + $0, length: 100 + Int64($0 % 40) * 397) }
        let nginx = try await NginxFixture(NginxFixture.Options())
        for source in sources { try nginx.publish(source, as: "\(source.seed)") }
        let disk = try await LoopFileSystem(megabytes: 96, kind: kind)
        let writeBack = try WriteBackOff()
        var options = DaemonFixture.Options()
        options.downloads = "\(disk.path)/downloads"
        options.stateDirectory = "\(disk.path)/state"
        for directory in [options.downloads, options.stateDirectory] { mkdir(try #require(directory), 0o700) }
        sync()
        let daemon = try DaemonFixture(options)
        try await daemon.start()
        // The directory is known from then on, so that the others are brief.
        _ = try await daemon.complete(try await daemon.add(nginx.url("/\(sources[0].seed)")))
        let session = try daemon.session()
        _ = try await session.call("events.subscribe", ["types": ["task.completed"]])
        func completed() -> Set<Int64> { Set(session.events.compactMap { $0["task_id"]?.integerValue }) }
        var cuts: [Cut] = []
        var byID: [Int64: SourceVersion] = [:]
        for number in 0..<5 {
            for source in sources[number * 60 + 1...number * 60 + 60] {
                byID[try await daemon.add(nginx.url("/\(source.seed)"))] = source
            }
            let wanted = number * 60 + 30
            try await eventually("\(wanted) tasks are completed", within: Patience.long) { completed().count >= wanted }
            let (known, done) = (Set(byID.keys), completed())
            daemon.process?.signal(SIGSTOP)
            cuts.append(Cut(image: try await disk.snapshot("cut\(number)"), answered: known, completed: done))
            daemon.process?.signal(SIGCONT)
        }
        await daemon.kill9()
        for cut in cuts {
            try await disk.repair(cut.image)
            try await disk.replace(with: cut.image)
            try await goOn(daemon, from: cut, byID)
        }
        try await disk.detach()
        withExtendedLifetime(writeBack) {}
    }

    /// Adds and completes tasks and cuts the power ten times on the way.
    private func run(
        _ daemon: DaemonFixture, _ disk: LoopFileSystem, _ nginx: NginxFixture, big: SourceVersion,
        small: [SourceVersion]
    ) async throws -> (cuts: [Cut], sources: [Int64: SourceVersion]) {
        try await daemon.start()
        let session = try daemon.session()
        _ = try await session.call("events.subscribe", ["types": ["task.completed"]])
        func completed() -> Set<Int64> { Set(session.events.compactMap { $0["task_id"]?.integerValue }) }

        var cuts: [Cut] = []
        var sources: [Int64: SourceVersion] = [:]
        var random = SplitMix64(seed: 200)
        sources[try await daemon.add(nginx.url("/\(big.seed)"))] = big
        for number in 0..<10 {
            for source in small[number * 8..<number * 8 + 8] {
                sources[try await daemon.add(nginx.url("/\(source.seed)"))] = source
            }
            let wanted = Int.random(in: 0...number * 8, using: &random)
            try await eventually("\(wanted) tasks are completed", within: Patience.long) { completed().count >= wanted }
            // What is known now was said before the cut; the daemon may have done more.
            let (known, done) = (Set(sources.keys), completed())
            daemon.process?.signal(SIGSTOP)
            cuts.append(Cut(image: try await disk.snapshot("cut\(number)"), answered: known, completed: done))
            daemon.process?.signal(SIGCONT)
        }
        return (cuts, sources)
    }

    private func goOn(_ daemon: DaemonFixture, from cut: Cut, _ sources: [Int64: SourceVersion]) async throws {
        try await daemon.start()
        for id in cut.completed {
            let view = try await daemon.view(id)
            #expect(view.state == "completed", "\(cut.image): \(view.json.text)")
            try expectFile(view, is: try #require(sources[id]))
        }
        for id in cut.answered { try expectFile(try await daemon.complete(id), is: try #require(sources[id])) }
        #expect(try daemon.downloaded.filter { $0.hasPrefix(".") } == [])
        let terminal = try await daemon.events(types: "task.completed", "task.failed", "task.cancelled")
        let ids = terminal.compactMap { $0["task_id"]?.integerValue }
        #expect(ids.count == Set(ids).count)
        #expect(Set(ids).isSuperset(of: cut.answered))
        try await daemon.stop()
    }
}
