import Logging
import Testing
import XferManager
import XferModel

@testable import XferDaemon

/// The names of the sections, in the order of the reference.
private let sections = SettingKey.all.map(\.section).reduce(into: [String]()) { sections, name in
    if sections.last != name { sections.append(name) }
}.joined(separator: ", ")

/// The members of an entry of `hooks`.
private let hookFields = (SettingKey.named("hooks")?.fields ?? []).map(\.name).joined(separator: ", ")

@Suite struct SettingsFileTests {
    @Test func withoutAFileEverySettingHasItsDefault() throws {
        let loaded = try LoadedSettings(instance: userInstance())
        #expect(loaded.settings == Settings(defaultsFor: try userInstance()))
        #expect(loaded.settings.service.maxActive == nil)
        #expect(loaded.settings.service.downloadDirectory == "/home/ann/Downloads")
        #expect(loaded.settings.service.roots == ["/home/ann"])
        #expect(SettingKey.all.allSatisfy { loaded.origin(of: $0) == .default })
    }

    @Test(
        arguments: ["", "# nothing\n", "queue:\nlog: {}\n", "---\n"])
    func anEmptyFileAndEmptySectionsChangeNothing(yaml: String) throws {
        #expect(try load(yaml).settings == Settings(defaultsFor: try userInstance()))
    }

    @Test func everyKeyIsReadIntoItsProperty() throws {
        let settings = try load(everyKeyChanged).settings
        var expected = Settings(defaultsFor: try userInstance())
        expected.service.maxActive = 12
        expected.service.maxActivePerHost = 3
        expected.service.isPolite = false
        expected.service.order = .lifo
        expected.service.retryFor = .seconds(7200)
        expected.service.downloadDirectory = "/home/ann/in"
        expected.service.incompleteDirectory = "/home/ann/parts"
        expected.service.roots = ["/home/ann", "/srv/data"]
        expected.service.allowsHidden = true
        expected.service.reserve = 1_000_000_000
        expected.service.checkpointBytes = 8 << 20
        expected.service.checkpointInterval = .milliseconds(500)
        expected.service.segments = .automatic
        expected.service.minReceiveRate = 10 << 10
        expected.service.minReceiveTime = .seconds(45)
        expected.service.negativeTTL = .seconds(90)
        expected.service.sharesBetweenOwners = true
        expected.service.bandwidth = BandwidthLimits(receive: 2_000_000, send: 512_000)
        expected.service.timetable = try BandwidthSchedule(parsing: ["19:00 off", "08:00 512K"])
        expected.service.cacheMaxBytes = 2 << 20
        expected.service.cacheMaxAge = .seconds(60)
        expected.service.strictTransport = .deny
        expected.service.authoritiesFile = "/etc/my-ca.pem"
        let lab = TrustPolicy(name: "lab", hosts: [try HostPattern("lab.test")], isReportOnly: true)
        expected.policies = [.init(policy: lab, pins: [])]
        var api = Profile(name: "api")
        api.baseURL = HTTPURL(scheme: .https, host: "api.test", port: 443, target: "/")
        api.keepsCookies = true
        expected.service.profiles = [api]
        expected.service.hooks = [
            HookDefinition(
                name: "tell", arguments: ["/home/ann/bin/tell", "--now"], timeout: 120, isForGuests: true)
        ]
        let deploy = WebhookDefinition(
            name: "deploy", url: HTTPURL(scheme: .https, host: "ci.test", port: 443, target: "/hook"),
            events: [.taskFailed], secret: .file("/home/ann/key"), isForGuests: true)
        expected.webhooks = [.init(definition: deploy)]
        expected.service.admission = AdmissionLists(
            deniedHosts: [try HostPattern("bad.test"), try HostPattern(".evil.test")],
            deniedAddresses: ["10.0.0.0/8", "fe80::/10"].compactMap { AddressBlock($0) },
            allowedHosts: [try HostPattern(".test")],
            translationPrefixes: ["2001:db8:64::/96"].compactMap { TranslationPrefix($0) })
        expected.redaction.names = ["x-acme-*", "pin"].compactMap { NamePattern($0) }
        expected.service.usesEnvironmentProxies = true
        expected.service.monitorsNetwork = false
        expected.service.meteredInterfaces = ["wwan0", "usb*"].compactMap { InterfacePattern($0) }
        expected.service.engineLoops = 3
        expected.fleet.database = "postgresql://xfer@db.test/xfer"
        expected.fleet.passwordFile = "/home/ann/pw"
        expected.fleet.node = "n1"
        expected.fleet.labels = ["ssd", "eu"]
        expected.fleet.slots = 3
        expected.fleet.socket = "/run/f.sock"
        expected.fleet.daemon = "/run/x.sock"
        expected.fleet.storages = ["nas": "/mnt/nas"]
        expected.service.uploadChunkSize = 8 << 20
        expected.service.largestResult = 64 << 20
        expected.service.largestResultRatio = 50
        expected.service.retention.maxEvents = 5000
        expected.service.retention.maxEventAge = .seconds(604_800)
        expected.service.retention.maxHistory = 10
        expected.service.retention.maxHistoryAge = .zero
        expected.service.maxClients = 3
        expected.rpc = .init(maxLine: 65_536, maxInFlight: 2)
        expected.rpc.maxClientsPerUser = 2
        expected.rpc.reservedClients = 1
        expected.rpc.requestTimeout = .seconds(5)
        expected.rpc.maxWaiting = 1 << 20
        expected.rpc.maxWaitingPerUser = 2 << 20
        var listener = Settings.Listener()
        listener.address = "127.0.0.1:6800"
        expected.listen = [listener]
        listener.address = "127.0.0.1:6803"
        expected.fleet.listen = [listener]
        expected.gateway.maxClients = 7
        expected.gateway.aria2 = .all
        expected.access.users = ["bob": .init(roots: ["/srv/bob"], maxTasks: 5, maxPriority: .high)]
        expected.access.groups = ["100": .init(roots: ["/srv/all"])]
        expected.service.maxStoredPerUser = 3 << 20
        expected.service.maxUndeliveredPerUser = 2 << 20
        expected.log.level = .debug
        expected.log.format = .json
        expected.client.start = .never
        #expect(settings == expected)
    }

    @Test func theFixtureWithEveryKeyChangesEveryKey() throws {
        let loaded = try load(everyKeyChanged)
        let defaults = Settings(defaultsFor: try userInstance())
        let unchanged = SettingKey.all.filter { $0.isEqual(loaded.settings, defaults) }.map(\.path)
        #expect(unchanged == [])
    }

    @Test func aValueRecordsTheLineItCameFrom() throws {
        let loaded = try load(everyKeyChanged)
        let retry = try #require(SettingKey.named("queue.retry_for"))
        #expect(loaded.origin(of: retry) == .file(path: "/c.yaml", position: .init(line: 6, column: 14)))
    }

    @Test(
        arguments: [
            (
                "queue: { max_active: six }",
                "/c.yaml:1:22: queue.max_active: expected auto or an integer from 1 to 10000, found \"six\""
            ),
            (
                "queue:\n  max_active: 0",
                "/c.yaml:2:15: queue.max_active: expected auto or an integer from 1 to 10000, found \"0\""
            ),
            (
                "queue:\n  max_active: \"6\"",
                "/c.yaml:2:15: queue.max_active: expected auto or an integer from 1 to 10000, found the string \"6\""
            ),
            (
                "queue:\n  max_active: [6]",
                "/c.yaml:2:15: queue.max_active: expected auto or an integer from 1 to 10000, found a list"
            ),
            (
                "queue:\n  max_active: 6.0",
                "/c.yaml:2:15: queue.max_active: expected auto or an integer from 1 to 10000, found \"6.0\""
            ),
            (
                "queue:\n  max_active:",
                "/c.yaml:2:14: queue.max_active: expected auto or an integer from 1 to 10000, found nothing"
            ),
            ("queue:\n  order: random", "/c.yaml:2:10: queue.order: expected fifo or lifo, found \"random\""),
            (
                "log: { level: loud }",
                "/c.yaml:1:15: log.level: expected trace, debug, info, notice, warning, error or critical, found \"loud\""
            ),
            ("queue:\n  max_activ: 6", "/c.yaml:2:3: queue.max_activ: unknown key, did you mean queue.max_active?"),
            ("quue:\n  max_active: 6", "/c.yaml:1:1: quue: unknown key, did you mean queue?"),
            ("max_active: 6", "/c.yaml:1:1: max_active: unknown key, did you mean queue.max_active?"),
            ("queue: { reserve: 1G }", "/c.yaml:1:10: queue.reserve: unknown key, did you mean download.reserve?"),
            ("zebra: 1", "/c.yaml:1:1: zebra: unknown key, expected \(sections)"),
            (
                "queue: { zebra: 1 }",
                "/c.yaml:1:10: queue.zebra: unknown key, "
                    + "expected max_active, max_active_per_host, order, retry_for, polite"
            ),
            (
                "hooks: { scan: { command: [/bin/true] } }",
                "/c.yaml:1:18: hooks: scan.command: unknown key, expected \(hookFields)"
            ),
            (
                "download: { segments: 1000 }",
                "/c.yaml:1:23: download.segments: expected \(SegmentCount.expected), found \"1000\""
            ),
            (
                "bandwidth: { recv: fast }",
                "/c.yaml:1:20: bandwidth.recv: expected \(ByteSizeText.expected), from 0 to 1024Ti, found \"fast\""
            ),
            (
                "bandwidth:\n  timetable: [\"08:00 1M\", \"25:00 off\"]",
                "/c.yaml:2:27: bandwidth.timetable: expected \(BandwidthSchedule.expected), found the string \"25:00 off\""
            ),
            (
                "bandwidth:\n  timetable: [\"08:00 1M\", \"mon-fri 08:00-22:00 512K\"]",
                "/c.yaml:2:27: bandwidth.timetable: an entry has no end: the span is two entries, "
                    + "\"mon-fri 08:00 512K\" and \"mon-fri 22:00 off\""
            ),
            (
                "bandwidth:\n  timetable: [\"08:00 1M\", \"no 08:00 1K\"]",
                "/c.yaml:2:27: bandwidth.timetable: expected \(BandwidthSchedule.expected), found the string \"no 08:00 1K\""
            ),
            (
                "bandwidth:\n  timetable: [\"08:00 1M\", \"sat,sun 08:00 off\"]",
                "/c.yaml:2:27: bandwidth.timetable: two entries begin on sat at 08:00; each time of a day may have one"
            ),
            (
                "bandwidth:\n  timetable: [\"08:00 1M\", \"08:00 off\"]",
                "/c.yaml:2:27: bandwidth.timetable: two entries begin at 08:00; each time of day may have one"
            ),
            (
                "trust: { policies: {} }",
                "/c.yaml:1:20: trust.policies: expected a list of policies, each a mapping with name, mode, pins, hosts, "
                    + "…, found a mapping"
            ),
            (
                "queue: 6",
                "/c.yaml:1:8: queue: expected a mapping with max_active, max_active_per_host, order, retry_for, polite, found \"6\""
            ),
            (
                "download: { dir: Downloads }",
                "/c.yaml:1:18: download.dir: expected an absolute path or one beginning with ~/, found \"Downloads\""
            ),
            (
                "download: { dir: ~bob/x }",
                "/c.yaml:1:18: download.dir: expected an absolute path or one beginning with ~/, found \"~bob/x\""
            ),
            (
                "download: { dir: ~/../bob }",
                "/c.yaml:1:18: download.dir: expected a path without \"..\", found \"~/../bob\""
            ),
            (
                "download:\n  roots:\n    - /srv\n    - srv",
                "/c.yaml:4:7: download.roots: expected an absolute path or one beginning with ~/, found \"srv\""
            ),
            ("download: { roots: [] }", "/c.yaml:1:20: download.roots: expected at least one path"),
            (
                "download: { roots: {} }",
                "/c.yaml:1:20: download.roots: expected a list of absolute paths, found a mapping"
            ),
            (
                "access: { users: { bob: { roots: [/a], max_task: 1 } } }",
                "/c.yaml:1:40: access.users: bob.max_task: unknown key, did you mean max_tasks?"
            ),
            (
                "access: { users: { bob: { roots: [/a], max_stored: 8K } } }",
                "/c.yaml:1:40: access.users: bob.max_stored: unknown key here, "
                    + "did you mean the setting access.max_stored?"
            ),
            (
                "access: { users: { bob: { roots: [/a], max_tasks: 0 } } }",
                "/c.yaml:1:51: access.users: bob.max_tasks: expected an integer from 1 to 10000000, found \"0\""
            ),
            (
                "access: { users: { bob: { max_tasks: 1 } } }",
                "/c.yaml:1:20: access.users: bob: roots is missing: "
                    + "expected absolute paths of the directories beneath which its tasks may write and read"
            ),
            (
                "access: { users: { bob: { roots: [\"~\"] } } }",
                "/c.yaml:1:35: access.users: bob.roots: expected an absolute path (~ would be the daemon's home)"
            ),
            (
                "access: { users: [bob] }",
                "/c.yaml:1:18: access.users: expected a mapping from names to {roots, max_tasks, max_priority}, found a list"
            ),
            (
                "- 1",
                "/c.yaml:1:1: expected a mapping with queue, bandwidth, download, sharing, cache, trust, profiles, hooks, webhooks, network, engine, upload, results, events, history, rpc, listen, gateway, access, redaction, log, client, fleet, found a list"
            ),
        ] as [(String, String)])
    func aFaultIsReportedWithLineColumnKeyAndExpectation(yaml: String, message: String) throws {
        #expect(try problems(of: yaml) == [message])
    }

    @Test(
        arguments: [
            (
                "download: { reserve: 1.5X }",
                "download.reserve: expected a size in bytes such as 4096, 64K, 1.5MB, 256Mi or 1 GiB"
            ),
            ("download: { reserve: -1 }", "download.reserve: expected a size"),
            ("download: { checkpoint_bytes: 1 }", "from 64Ki to 1Gi, found \"1\""),
            (
                "queue: { retry_for: soon }",
                "queue.retry_for: expected a duration such as 90 (seconds), 500ms, 15m, 1h30m, 24h or 30d"
            ),
            ("events: { max_age: 1h }", "from 86400 to 3153600000, found \"1h\""),
        ] as [(String, String)])
    func aBadSizeOrDurationIsReportedWithExamples(yaml: String, part: String) throws {
        let found = try problems(of: yaml)
        #expect(found.count == 1)
        #expect(found.first?.contains(part) == true, "\(found)")
    }

    @Test func allFaultsAreReportedAtOnce() throws {
        let found = try problems(of: "queue: { max_active: 0, order: x }\nzebra: 1\n")
        #expect(found.map { $0.prefix { $0 != " " } } == ["/c.yaml:1:22:", "/c.yaml:1:32:", "/c.yaml:2:1:"])
    }

    @Test func theDownloadDirectoryMustLieBeneathARoot() throws {
        let written = try problems(of: "download:\n  dir: /srv/a\n  roots: [/home/ann]\n")
        #expect(
            written == [
                "/c.yaml:2:8: download.dir: download.dir (/srv/a) has to be beneath one of download.roots (/home/ann)"
            ])
        let roots = try problems(of: "download:\n  roots: [/srv/a]\n")
        #expect(roots.first?.hasPrefix("/c.yaml:2:10: download.roots: ") == true)
        #expect(try problems(of: "download: { dir: /srv/ab, roots: [/srv/a] }").count == 1)
        #expect(
            try load("download: { dir: /srv/a/b, roots: [/srv/a] }").settings.service.downloadDirectory == "/srv/a/b")
        #expect(try load("download: { dir: /srv/a, roots: [/] }").settings.service.roots == ["/"])
    }

    @Test func aDownloadDirectoryAloneIsARootBesideTheDefaultOne() throws {
        #expect(try load("download: { dir: /srv/a }").settings.service.roots == ["/home/ann", "/srv/a"])
        #expect(try load("download: { dir: ~/in }").settings.service.roots == ["/home/ann"])
    }

    @Test func aUsersOwnDaemonWritesAnywhereForItsUserUnlessRootsAreConfigured() throws {
        #expect(try load("").ownRoots == ["/"])
        #expect(try load("download: { dir: /srv/a }").ownRoots == ["/"])
        #expect(try load("download: { roots: [\"~\"] }").ownRoots == ["/home/ann"])
        let variable = try load("", environment: ["XFERD_DOWNLOAD_ROOTS": "~:/srv"])
        #expect(variable.ownRoots == ["/home/ann", "/srv"])
        // A reload follows the file.
        #expect(try load("").reload(to: try load("download: { roots: [\"~\"] }")).inForce.ownRoots == ["/home/ann"])
        let system = try InstancePaths(
            environment: [
                "HOME": "/var/lib/xferd", "STATE_DIRECTORY": "/var/lib/xferd/state:/var/lib/xferd/downloads",
            ],
            uid: 990)
        #expect(try LoadedSettings(instance: system).ownRoots == ["/var/lib/xferd/downloads"])
    }
}
