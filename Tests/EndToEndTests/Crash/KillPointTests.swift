import StrictJSON
import Testing
import XferTestSupport

/// kill -9 at each step that small downloads take: their files are written, their intents committed, their names given,
/// their ends committed. Whatever the step, each is published once and ends once.
@Suite(
    .serialized,
    .enabled(if: KillPoint.isPossible && NginxFixture.isInstalled, "needs root, strace and nginx-light"))
struct KillPointTests {
    /// What the crash leaves of a group of small downloads.
    private enum Trace {
        /// Nothing: files had no names, and intents were not committed.
        case nothing
        /// Intents without names.
        case intents
        /// Intents, and a name for some of them, or for none.
        case someNames
        /// Intents, and a name for each.
        case names

        /// - Parameter names: of the intents' names, how many files have them.
        func allows(intents: Int, names: Int) -> Bool {
            switch self {
            case .nothing: intents == 0
            case .intents: intents > 0 && names == 0
            case .someNames: (0..<intents).contains(names)
            case .names: intents > 0 && names == intents
            }
        }
    }

    /// How a daemon ended that was to be killed.
    private enum End {
        /// At the point, while all downloads that ran were brief.
        case whileBrief
        /// At the point; the machine was so slow that starts had been committed.
        case later
        /// Not at all: all downloads had ended before.
        case never
    }

    /// Whose downloads they are. A guest's files are given to the guest before they have names.
    enum Caller: CaseIterable { case operators, guests }

    /// The daemon, and where and how downloads are added to it.
    private struct Ground {
        let daemon: DaemonFixture
        let directory: String
        let call: (String, JSONValue) async throws -> JSONValue

        func add(_ tasks: [JSONValue]) async throws -> [Int64] {
            let answer = try await call("task.add", ["tasks": .array(tasks)])
            return try #require(answer["ids"]?.arrayValue, "\(answer.text)").compactMap(\.integerValue)
        }

        var downloaded: [String] { get throws { try FileTree.entries(below: directory) } }
    }

    private static let sources = (0..<24).map { SourceVersion.tagged(600 + $0, length: 100 + Int64($0) * 397) }

    /// Points at which it is known what they leave: a group has many files, and one thread gives them their names.
    @Test(arguments: Caller.allCases) func whileFilesAreWritten(caller: Caller) async throws {
        try await expect(.nothing, at: KillPoint(call: "fchmod"), of: caller)
        try await expect(.nothing, at: KillPoint(call: "fsync"), of: caller)
    }

    @Test(arguments: Caller.allCases) func betweenIntentAndName(caller: Caller) async throws {
        try await expect(.intents, at: KillPoint(call: "linkat"), of: caller)
    }

    /// The third name of a thread: the second or a later one of its group, as a rule.
    @Test(arguments: Caller.allCases) func betweenTwoNames(caller: Caller) async throws {
        try await expect(.someNames, at: KillPoint(call: "linkat", number: 3), of: caller)
    }

    @Test(arguments: Caller.allCases) func betweenNameAndEnd(caller: Caller) async throws {
        try await expect(.names, at: KillPoint(call: "fsync", place: .downloads), of: caller)
    }

    /// Each write and each sync of the database's log, and each call that files need, one after the other.
    @Test(.enabled(if: Machine.isSoak, "make soak"), arguments: Caller.allCases)
    func atEachCall(caller: Caller) async throws {
        var deaths = 0
        for (call, place, last) in [
            ("pwrite64", .databaseLog, 40), ("fdatasync", .databaseLog, 6), ("fchmod", nil, 20), ("fsync", nil, 20),
            ("linkat", nil, 20), ("fsync", .downloads, 3),
        ] as [(String, KillPoint.Place?, Int)] {
            for number in 1...last {
                let end = try await kill(at: KillPoint(call: call, number: number, place: place), of: caller)
                if end != .never { deaths += 1 }
                // How many calls there are depends on the groups, but there is a first one of each kind.
                if number == 1 { #expect(end != .never, "\(call)") }
            }
        }
        print("kill -9 at calls of small downloads, \(caller)': \(deaths) deaths")
    }

    /// Expects that the crash is among brief runs, and leaves this. On a machine that is too slow for that it tries again.
    private func expect(_ trace: Trace, at point: KillPoint, of caller: Caller) async throws {
        for _ in 0..<10 where try await kill(at: point, of: caller, leaves: trace) == .whileBrief { return }
        Issue.record("\(point.testDescription): no download was so short that its start had not been committed")
    }

    /// Kills a daemon among small downloads at this point, and lets another one go on.
    ///
    /// - Parameter leaves: what the database and the directory must show if all downloads were brief; nil is unknown.
    private func kill(at point: KillPoint, of caller: Caller, leaves: Trace? = nil) async throws -> End {
        let nginx = try await NginxFixture()
        for source in Self.sources { try nginx.publish(source, as: "\(source.seed)") }
        let first = SourceVersion.tagged(599, length: 1000)
        try nginx.publish(first, as: "first")
        let options = DaemonFixture.Options(settings: ["queue": ["max_active": "64", "max_active_per_host": "64"]])
        var end = End.never
        try await withGround(options, of: caller) { ground in
            let daemon = ground.daemon
            func entry(_ name: String) -> JSONValue {
                ["url": .string(nginx.url("/\(name)")), "output": .string(name), "dir": .string(ground.directory)]
            }
            // The directory is known from then on, so that the others are brief.
            for id in try await ground.add([entry("first")]) { try await daemon.complete(id) }
            _ = try await daemon.call("queue.pause")
            let ids = try await ground.add(Self.sources.map { entry("\($0.seed)") })
            let session = try daemon.session()
            _ = try await session.call("events.subscribe", ["types": ["task.completed"]])
            let strace = try await daemon.attach(point, downloads: ground.directory)
            // It may be killed before it answers.
            _ = try? await daemon.call("queue.resume")
            // Reading tasks or counts would commit their starts.
            let isDead = try await eventually("it is dead or has nothing to do", within: Patience.long) { () -> Bool? in
                guard daemon.process?.isRunning == true else { return true }
                return session.events.count == ids.count ? false : nil
            }
            if isDead {
                #expect(await daemon.process?.exit() == .signal(9))
                let (intended, started) = try await daemon.leftByCrash()
                end = started == 0 ? .whileBrief : .later
                // Earlier groups may have ended.
                let given = Set(try ground.downloaded).intersection(intended).count
                if let leaves, end == .whileBrief {
                    let description = "\(point.testDescription): \(intended.count) intents, \(given) names"
                    #expect(leaves.allows(intents: intended.count, names: given), "\(description)")
                }
            }
            await daemon.kill9()
            _ = await strace.exit()

            try await daemon.start()
            _ = try await daemon.call("queue.resume")
            for (id, source) in zip(ids, Self.sources) { try expectFile(try await daemon.complete(id), is: source) }
            let names = Self.sources.map { "\($0.seed)" } + ["first"]
            try await eventually("\(point.testDescription): each file once, and nothing else") {
                try ground.downloaded == names
            }
            let terminal = try await daemon.events(types: "task.completed", "task.failed", "task.cancelled")
            #expect(terminal.count == ids.count + 1, "\(point.testDescription)")
            let ended = Set(terminal.compactMap { $0["task_id"]?.integerValue })
            #expect(ended.isSuperset(of: ids))
            #expect(try await daemon.leftByCrash().intended.isEmpty)
        }
        return end
    }

    private func withGround(
        _ options: DaemonFixture.Options, of caller: Caller, _ body: (Ground) async throws -> Void
    ) async throws {
        switch caller {
        case .operators:
            try await withDaemon(options) { daemon in
                try await body(
                    Ground(daemon: daemon, directory: daemon.downloads) { try await daemon.call($0, $1) })
            }
        case .guests:
            try await withGuest(options) { daemon, guest in
                try await body(
                    Ground(daemon: daemon, directory: guest.root) { method, params in
                        let answer = try await guest.call(method, params)
                        return try #require(answer.result, "\(answer.error)")
                    })
            }
        }
    }
}
