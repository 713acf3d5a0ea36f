import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferSystem

@testable import XferClient
@testable import XferCommands

@Suite struct ExaminationTests {
    private func system(
        entries: [String: SystemFacts.Entry] = [:], rooms: [String: SystemFacts.Room] = [:],
        texts: [String: String] = [:], now: Int64 = 1_800_000_000, isClockSynchronised: Bool? = true,
        unit: [String: String]? = nil, resolves: Bool = true
    ) -> SystemFacts {
        SystemFacts(
            entry: { entries[$0] ?? .missing }, room: { rooms[$0] }, text: { texts[$0] }, now: now,
            isClockSynchronised: isClockSynchronised, unit: { _, _ in unit }, resolves: { _ in resolves },
            userName: "ada")
    }

    private func examination(_ system: SystemFacts, _ settings: [String: String] = [:]) -> Examination {
        Examination(system: system, settings: settings)
    }

    private var status: DaemonStatus.Result {
        var status = DaemonStatus.Result()
        status.version = "1.0.0"
        status.socket = "/run/xferd.sock"
        status.stateDirectory = "/state"
        return status
    }

    // MARK: The daemon

    @Test func anAbsentDaemonIsAProblemWithTheWayToStartIt() {
        let candidate = SocketLocator(environment: [:], uid: 7).candidates(for: .user)[0]
        let error = NoDaemonError(
            tried: [FailedCandidate(candidate: candidate, error: .noSocket(path: candidate.path))])
        let finding = Examination.socket(error, ServiceManagers(hasSystem: true, hasUser: true))
        #expect(finding.level == .problem && finding.advice?.contains("xferctl daemon start") == true)
        #expect(finding.advice?.contains("systemctl --user enable --now xferd") == true)
    }

    @Test func aSocketThatRefusesTheUserNamesTheSetting() {
        let candidate = SocketLocator(environment: [:], uid: 7).candidates(for: .system)[0]
        let error = NoDaemonError(
            tried: [FailedCandidate(candidate: candidate, error: .permissionDenied(path: candidate.path))])
        #expect(Examination.socket(error).advice?.contains("access.users") == true)
        #expect(Examination.rights("refused").level == .problem)
    }

    @Test func aLimitOfAClientThatBeatsTheTimetableIsAWarningWithItsEnd() {
        var limits = QueueLimits()
        limits.overridden = ["max_active", "max_recv_rate"]
        let findings = examination(system()).limits(limits, configured: ["bandwidth.timetable", "bandwidth.recv"])
        #expect(findings.map(\.level) == [.warning])
        #expect(findings.first?.message.contains("bandwidth.timetable is not in force") == true)
        #expect(findings.first?.advice?.hasPrefix("xferctl limit --recv default") == true)
        #expect(examination(system()).limits(limits, configured: []).isEmpty)
        #expect(examination(system()).limits(QueueLimits(), configured: ["bandwidth.timetable"]).isEmpty)
    }

    @Test func aProxyOfTheCallersEnvironmentThatTheDaemonDoesNotUseIsAWarning() {
        let caller = CallerProxies { $0 == "http_proxy" ? "http://p:3128" : nil }
        let finding = examination(system()).proxies(caller)
        #expect(finding?.level == .warning && finding?.message.contains("http://p:3128") == true)
        #expect(finding?.advice?.contains("network.proxy_from_environment: true") == true)
        let settings = ["network.proxy_from_environment": "true"]
        #expect(examination(system(), settings).proxies(caller)?.level == .well)
        #expect(examination(system()).proxies(CallerProxies { _ in nil }) == nil)
    }

    @Test func anOlderDaemonIsAWarning() {
        #expect(Examination.socket(status, clientVersion: "1.0.0").level == .well)
        #expect(Examination.socket(status, clientVersion: "1.1.0").level == .warning)
    }

    @Test(arguments: [
        (["profile \"a\"", "token \"b\""], false, "damaged, and they have no effect: profile \"a\", token \"b\""),
        (["trust policy \"p\""], true, "damaged, and nothing starts: trust policy \"p\""),
        (["trust policy \"p\""], false, "damaged, and nothing starts after a restart: trust policy \"p\""),
    ]) func damagedRowsAreAProblemThatNamesThem(rows: [String], isDegraded: Bool, message: String) {
        var status = status
        status.degraded = isDegraded
        status.damagedRows = rows
        let finding = examination(system()).database(status)
        #expect(finding.level == .problem && finding.message == message)
    }

    @Test func theAdviceAboutDamagedTasksIsToRemoveThem() {
        var status = status
        status.damagedRows = ["task 7", "task 9"]
        let advice = examination(system()).database(status).advice
        #expect(advice?.hasPrefix("xferctl cancel 7 9, then xferctl remove; or stop the daemon") == true)
        status.damagedRows = (1...22).map { "task \($0)" } + ["token \"t\""]
        let finding = examination(system()).database(status)
        #expect(finding.message.contains("effect: token \"t\", task 1,") && finding.message.hasSuffix("and 3 more"))
        #expect(finding.advice?.contains("xferctl token; xferctl cancel 1 2") == true)
        status.degraded = true
        status.degradedReason = "disk full"
        let both = examination(system()).database(status)
        #expect(both.message.hasPrefix("disk full; damaged") && both.advice?.hasPrefix("free space") == true)
    }

    @Test func aDegradedDatabaseIsAProblemWithItsReason() {
        var status = status
        #expect(examination(system()).database(status).level == .well)
        status.degraded = true
        status.degradedReason = "disk full"
        let finding = examination(system()).database(status)
        #expect(finding.level == .problem && finding.message.contains("disk full"))
    }

    @Test func aRefusedConfigurationIsAProblem() {
        var status = status
        #expect(examination(system()).configuration(status).level == .well)
        status.keysWaitingForRestart = ["rpc.max_line", "listen"]
        let waiting = examination(system()).configuration(status)
        #expect(waiting.level == .warning && waiting.message.contains("rpc.max_line, listen"))
        status.keysWaitingForRestart = ["listen"]
        let one = examination(system()).configuration(status, restart: "xferd --config /c")
        #expect(one.message == "listen of the configuration file waits for a restart")
        #expect(one.advice == "restart the daemon: xferd --config /c")
        status.configurationProblem = "line 3"
        let refused = examination(system()).configuration(status, file: "/etc/my xferd.yaml")
        #expect(refused.message.contains("line 3"))
        #expect(refused.advice?.hasPrefix("xferd --config '/etc/my xferd.yaml' --check-config shows") == true)
    }

    @Test func anEntryThatWasAlsoSetOverRPCIsAProblemWithTheWayOut() {
        var status = status
        let conflict = "profile \"p\" of the configuration file is not in force: remove that one"
        status.configurationConflicts = [conflict]
        let started = examination(system()).configuration(status)
        #expect(started.level == .problem && started.message == conflict)
        status.configurationProblem = conflict
        let reloaded = examination(system()).configuration(status)
        #expect(reloaded.message == "the configuration file was not applied: \(conflict)")
        #expect(reloaded.advice?.contains("--check-config") == false)
        // A fault that came later is what keeps the file from being applied now.
        status.configurationProblem = "line 3"
        #expect(examination(system()).configuration(status).message.contains("line 3"))
    }

    @Test func aFailingWebhookIsAWarning() {
        var status = status
        #expect(examination(system()).webhooks(status).isEmpty)
        status.failingWebhooks = ["deploy: ci.example.org answered 503 (Service Unavailable)"]
        let found = examination(system()).webhooks(status)
        #expect(found.map(\.level) == [.warning])
        #expect(found.first?.message.contains("answered 503") == true)
        #expect(found.first?.advice?.hasPrefix("xferctl webhook test deploy ") == true)
    }

    @Test(
        arguments: [
            (-1, .problem, "has expired"), (3600, .warning, "expires within a day"), (86_400, .warning, "in 1 day"),
            (5 * 86_400, .warning, "expires in 5 days"), (31 * 86_400, nil, ""),
        ] as [(Int64, Finding.Level?, String)])
    func aPolicyThatExpiresSoonIsFound(seconds: Int64, level: Finding.Level?, text: String) {
        var policy = PolicyRecord()
        policy.name = "bank"
        policy.expiresAt = Timestamp(seconds: 1_800_000_000 + seconds)
        let findings = examination(system()).expiries([policy, PolicyRecord()])
        #expect(findings.map(\.level) == [level].compactMap(\.self))
        #expect(findings.allSatisfy { $0.message.contains("\"bank\"") && $0.message.contains(text) }, "\(findings)")
    }

    @Test func aPausedQueueAndAMissingRouteAreFound() {
        let examination = examination(system())
        #expect(examination.queue(isPaused: false, network: .unmetered).isEmpty)
        #expect(examination.queue(isPaused: true, network: .offline).map(\.level) == [.warning, .problem])
    }

    // MARK: Directories

    @Test(
        arguments: [
            (.directory, .well), (.missing, .warning), (.unreadable, .well), (.file, .problem), (.other, .problem),
            (.unresponsive, .problem),
        ] as [(SystemFacts.Entry, Finding.Level)])
    func aRootHasToBeADirectory(entry: SystemFacts.Entry, level: Finding.Level) {
        let settings = ["download.roots": "[\"/data\"]", "download.dir": "\"/data\""]
        #expect(examination(system(entries: ["/data": entry]), settings).roots().map(\.level) == [level])
    }

    /// xferd makes the directory for incomplete files itself, but not the one that contains it.
    @Test(
        arguments: [
            (["/data": .directory, "/fast/parts": .directory], [.well, .well]),
            (["/data": .directory, "/fast/parts": .missing, "/fast": .directory], [.well, .well]),
            (["/data": .directory, "/fast/parts": .missing, "/fast": .missing], [.well, .warning]),
            (["/data": .directory, "/fast/parts": .file], [.well, .problem]),
        ] as [([String: SystemFacts.Entry], [Finding.Level])])
    func theDirectoryForIncompleteFilesHasToBePossible(entries: [String: SystemFacts.Entry], levels: [Finding.Level]) {
        let settings = ["download.dir": "\"/data\"", "download.incomplete_dir": "\"/fast/parts\""]
        #expect(examination(system(entries: entries), settings).roots().map(\.level) == levels)
    }

    /// A missing parent may be that of a disk that is not mounted.
    @Test(
        arguments: [
            (["/home/ada": .directory], 996, .well), (["/home/ada": .directory], 0, .warning), ([:], 996, .warning),
        ] as [([String: SystemFacts.Entry], UInt32, Finding.Level)])
    func aDownloadDirectoryThatTheFirstDownloadMakesIsNoWarning(
        entries: [String: SystemFacts.Entry], owner: UInt32, level: Finding.Level
    ) {
        var facts = system(entries: entries, texts: ["/proc/7/status": "Uid:\t996\t996\t996\t996\n"])
        facts.permissions = { _ in SystemFacts.Permissions(owner: owner, mode: 0o755) }
        let settings = ["download.roots": "[]", "download.dir": "\"/home/ada/Downloads\""]
        #expect(examination(facts, settings).roots(processID: 7).map(\.level) == [level])
    }

    @Test(
        arguments: [
            (0, 0o755, .problem), (0, 0o700, .problem), (996, 0o755, .well), (996, 0o555, .problem),
            // Its group, or an access list, may let the daemon's user write.
            (0, 0o775, .well), (0, 0o777, .well), (0, 0o757, .well), (0, 0o764, .problem),
        ] as [(UInt32, UInt32, Finding.Level)])
    func aRootThatTheDaemonsUserCannotWriteIsAProblem(owner: UInt32, mode: UInt32, level: Finding.Level) {
        var facts = system(
            entries: ["/data": .directory], texts: ["/proc/7/status": "Name:\txferd\nUid:\t996\t996\t996\t996\n"])
        facts.permissions = { _ in SystemFacts.Permissions(owner: owner, mode: mode) }
        let settings = ["download.roots": "[\"/data\"]", "download.dir": "\"/data\""]
        #expect(examination(facts, settings).roots(processID: 7).map(\.level) == [level])
        // Nothing is known of the process.
        #expect(examination(facts, settings).roots(processID: 8).map(\.level) == [.well])
        #expect(!SystemFacts.Permissions(owner: 1000, mode: 0).excludes(0))
    }

    /// `ProtectSystem=strict` and `ReadWritePaths=`, systemd.exec(5).
    @Test(
        arguments: [
            ("/srv/nas", .problem), ("/srv", .problem), ("/srv/nas/in", .well), ("/srv/nas/in/deep", .well),
            ("/srv/nas/inner", .problem), ("/my disk/a", .well), ("/over", .well), ("/link", .well),
        ] as [(String, Finding.Level)])
    func aRootThatIsReadOnlyForTheDaemonIsAProblem(directory: String, level: Finding.Level) {
        let mounts = """
            180 179 254:0 / / ro,relatime shared:1 master:2 - ext4 /dev/vda rw
            211 180 254:0 /srv/nas/in /srv/nas/in rw,nosuid,relatime shared:101 - ext4 /dev/vda rw
            212 180 254:1 / /my\\040disk rw - ext4 /dev/vdb rw
            213 180 254:1 / /over ro - ext4 /dev/vdb rw
            214 180 254:1 / /over rw - ext4 /dev/vdb rw
            damaged
            """
        var facts = system(entries: [directory: .directory], texts: ["/proc/7/mountinfo": mounts])
        facts.resolved = { $0 == "/link" ? "/srv/nas/in" : $0 }
        let settings = ["download.roots": "[]", "download.dir": "\"\(directory)\""]
        #expect(examination(facts, settings).roots(processID: 7).map(\.level) == [level])
        #expect(examination(facts, settings).roots(processID: 8).map(\.level) == [.well])
    }

    @Test func theAdviceForAReadOnlyRootFitsWhatMakesItReadOnly() throws {
        let sandboxed = ["/proc/7/mountinfo": "180 179 254:0 / /srv ro - ext4 /dev/vda rw"]
        let settings = ["download.roots": "[\"/srv/d\"]"]
        func advice(_ texts: [String: String], isUnit: Bool) throws -> String {
            let facts = system(entries: ["/srv/d": .directory], texts: texts)
            return try #require(examination(facts, settings).roots(processID: 7, isUnit: isUnit).first?.advice)
        }
        #expect(try advice(sandboxed, isUnit: true).contains("ReadWritePaths=/srv/d"))
        #expect(try !advice(sandboxed, isUnit: false).contains("systemctl"))
        var mounted = sandboxed
        mounted["/proc/self/mountinfo"] = sandboxed["/proc/7/mountinfo"]
        for isUnit in [true, false] {
            #expect(try advice(mounted, isUnit: isUnit).hasSuffix("mount -o remount,rw /srv"))
        }
    }

    @Test func aFileSystemIsShownWithWhatItLacks() {
        var status = status
        #expect(examination(system()).fileSystems(status).isEmpty)
        var good = FileSystemRecord()
        (good.type, good.mountPoint, good.isLocal) = ("ext4", "/", true)
        (good.keepsInodeNumbers, good.hasJournal) = (true, true)
        var poor = FileSystemRecord()
        (poor.type, poor.mountPoint, poor.timeStep) = ("fuse.sshfs", "/mnt/nas", 1_000_000_000)
        poor.missing = [OpenEnum(.exclusiveRename), OpenEnum(.hardLinks)]
        poor.names = OpenEnum(.windows)
        poor.largestFile = 4_294_967_295
        poor.longestName = 143
        status.fileSystems = [good, poor]
        let findings = examination(system()).fileSystems(status)
        #expect(findings.map(\.level) == [.well, .well])
        #expect(
            findings.map(\.message) == [
                "ext4 at /",
                "fuse.sshfs at /mnt/nas: not on this machine, without stable file numbers, exclusive_rename and "
                    + "hard_links, only names that Windows allows, names of at most 143 bytes, files of at most 4.0 GiB, "
                    + "times in steps of 1 s",
            ])
    }

    @Test func withoutRootsNothingCanBeDownloaded() {
        #expect(examination(system(), ["download.roots": "[]"]).roots().map(\.level) == [.problem])
        #expect(examination(system()).roots().isEmpty)
    }

    @Test(arguments: [(200, .problem), (300, .warning), (9000, .well)] as [(Int64, Finding.Level)])
    func roomBesideTheReserveIsJudged(free: Int64, level: Finding.Level) {
        let room = SystemFacts.Room(free: free << 20, size: 10_000 << 20)
        let findings = examination(system(rooms: ["/state": room]), ["download.reserve": "256Mi"])
            .space(stateDirectory: "/state")
        #expect(findings.map(\.level) == [level])
    }

    @Test func aFullDiskThatTheDaemonUsesIsFoundOnce() {
        let (roomy, full) = (SystemFacts.Room(free: 9 << 30, size: 10 << 30), SystemFacts.Room(free: 5, size: 1 << 30))
        let facts = system(rooms: ["/state": roomy, "/": roomy, "/disk": full, "/disk/d": full, "/other": roomy])
        let reserve = ["download.reserve": "256Mi"]
        func levels(_ settings: [String: String], _ points: [String]) -> [Finding.Level] {
            examination(facts, reserve.merging(settings) { $1 })
                .space(stateDirectory: "/state", mountPoints: points).map(\.level)
        }
        #expect(levels([:], ["/", "/other"]) == [.well])
        #expect(levels([:], ["/", "/disk", "/gone"]) == [.well, .problem])
        #expect(levels(["download.dir": "/disk/d"], ["/disk"]) == [.well, .problem])
    }

    @Test func aTaskThatWaitsForRoomIsAProblemWithWhatItNeeds() {
        func waiting(_ id: Int64, _ directory: String?, _ needed: Int64) -> TaskRecord {
            var task = TaskRecord()
            task.id = TaskID(id)
            task.wait = WaitRecord()
            task.wait?.reason = OpenEnum(.insufficientSpace)
            var error = TransferError(.insufficientSpace, "the disk is full")
            error.space = MissingSpace(in: directory, needed: needed)
            task.error = FailureRecord(error)
            return task
        }
        let facts = system(rooms: [
            "/state": SystemFacts.Room(free: 9 << 30, size: 10 << 30),
            "/d": SystemFacts.Room(free: 5 << 20, size: 1 << 30),
        ])
        func findings(_ tasks: [TaskRecord], reserve: String = "256Mi") -> [Finding] {
            let examined = examination(facts, ["download.reserve": reserve])
            return examined.space(stateDirectory: "/state", mountPoints: ["/d"], waiting: tasks)
        }
        let one = findings([waiting(7, "/d", 6 << 20)])
        #expect(one.map(\.level) == [.problem, .well])
        #expect(
            one.first?.message
                == "#7 waits for room in /d: 5.0 MiB are free, 6.0 MiB are needed, and 256 MiB stay free (download.reserve)"
        )
        let two = findings([waiting(7, "/d", 6 << 20), waiting(8, "/d", 8 << 20)])
        #expect(two.first?.message.contains("#7 and 1 more wait for room in /d") == true)
        #expect(two.first?.message.contains("8.0 MiB are needed for the largest") == true)
        let hopeless = findings([waiting(7, "/d", 6 << 20)], reserve: "20Gi")
        #expect(hopeless.first?.advice?.contains("the whole file system has 1.0 GiB") == true)
        let enough = findings([waiting(7, "/d", 1 << 20)], reserve: "1Mi")
        #expect(enough.first?.level == .warning && enough.first?.advice?.contains("mount it") == true)
        #expect(findings([waiting(7, nil, 0)]).first?.message == "#7 waits for room: the disk is full")
        var other = waiting(7, "/d", 1)
        other.wait?.reason = OpenEnum(.retry)
        #expect(findings([other]).contains { $0.message.contains("#7") } == false)
    }

    @Test func tasksThatWaitForADirectoryAreAProblemWithTheirNumber() {
        let tasks = [7, 8, 9].map { (id: Int64) -> TaskRecord in
            var task = TaskRecord()
            task.id = TaskID(id)
            task.dir = id < 9 ? "/mnt/nas" : "/other"
            task.wait = WaitRecord()
            task.wait?.reason = OpenEnum(.destinationUnavailable)
            task.error = FailureRecord(TransferError(.destinationUnavailable, "it is not mounted"))
            return task
        }
        let findings = examination(system()).unavailable(tasks)
        #expect(findings.map(\.level) == [.problem, .problem])
        #expect(findings.first?.message == "#7 and 1 more wait for /mnt/nas: it is not mounted")
        #expect(findings.last?.message == "#9 waits for /other: it is not mounted")
        #expect(examination(system()).space(stateDirectory: "/state", waiting: tasks).isEmpty)
    }

    // MARK: The machine

    @Test func aClockOfThePastOrWithoutATimeServiceIsFound() {
        #expect(examination(system(now: 1_000_000_000)).clock().level == .problem)
        #expect(examination(system(isClockSynchronised: false)).clock().level == .warning)
        #expect(examination(system(isClockSynchronised: nil)).clock().level == .well)
    }

    @Test func namesNeedAServerOrHaveAnAddress() {
        #expect(examination(system()).names(host: nil).level == .warning)
        let resolved = system(texts: ["/etc/resolv.conf": "# x\nnameserver 192.0.2.1\n"])
        #expect(examination(resolved).names(host: nil).level == .well)
        #expect(examination(system(resolves: true)).names(host: "a.test").level == .well)
        #expect(examination(system(resolves: false)).names(host: "a.test").level == .problem)
    }

    @Test func theAuthoritiesFileHasToHoldCertificates() {
        let path = "/etc/ssl/certs/ca-certificates.crt"
        #expect(examination(system()).authorities().level == .problem)
        #expect(examination(system(entries: [path: .file], texts: [path: ""])).authorities().level == .problem)
        #expect(examination(system(entries: [path: .unreadable])).authorities().level == .warning)
        let good = system(entries: ["/ca": .file], texts: ["/ca": "-----BEGIN CERTIFICATE-----\n"])
        #expect(examination(good, ["trust.ca_file": "\"/ca\""]).authorities().level == .well)
    }

    @Test func fewOpenFilesAreAWarning() {
        func finding(_ limit: String) -> Finding? {
            let text = "Limit  Soft Limit\nMax open files            \(limit)                 524288    files\n"
            return examination(system(texts: ["/proc/7/limits": text])).limits(processID: 7)
        }
        #expect(finding("1024")?.level == .warning)
        #expect(finding("65536")?.level == .well)
        #expect(finding("unlimited") == nil)
        #expect(examination(system()).limits(processID: 7) == nil)
    }

    @Test func theUnitsStateIsJudged() {
        func levels(_ unit: [String: String]?, isUser: Bool = false) -> [Finding.Level] {
            let unit = unit.map { $0.merging(["LoadState": "loaded"]) { first, _ in first } }
            return examination(system(unit: unit)).service(isUser: isUser).map(\.level)
        }
        #expect(levels(nil).isEmpty)
        #expect(levels(["LoadState": "not-found"]).isEmpty)
        #expect(levels(["ActiveState": "active", "UnitFileState": "enabled", "NRestarts": "0"]) == [.well])
        #expect(levels(["ActiveState": "failed", "UnitFileState": "enabled", "Result": "exit-code"]) == [.problem])
        #expect(levels(["UnitFileState": "enabled", "NRestarts": "9"]) == [.warning])
        #expect(levels(["UnitFileState": "disabled"]) == [.warning])
        // Without lingering it ends when its user logs out.
        #expect(levels(["UnitFileState": "enabled"], isUser: true) == [.warning])
    }

    @Test func aFindingIsOneObjectOrALineWithItsAdvice() {
        let finding = Finding.problem("clock", "it is\u{1b}[2J behind", "set it")
        #expect(finding.json["level"] == "problem" && finding.json["advice"] == "set it")
        let lines = finding.lines(.plain)
        #expect(lines.count == 2 && !lines[0].contains("\u{1b}") && lines[1].hasSuffix("set it"))
    }
}
