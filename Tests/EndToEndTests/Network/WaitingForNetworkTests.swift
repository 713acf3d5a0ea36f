import StrictJSON
import Testing
import XferTestSupport

/// The network goes and comes back: tasks wait for it, and go on by themselves.
@Suite(.enabled(if: NetworkNamespace.isPossible, Comment(rawValue: NetworkNamespace.requirement)))
struct WaitingForNetworkTests {
    /// The row of AFNetworkReachabilityManager: parked, resumed by itself, order kept, tries not counted.
    @Test func aLinkThatGoesDownParksTasksAndOneThatComesUpWakesThemInOrder() async throws {
        let world = try await NetworkWorld(rate: 100_000)
        let big = try world.publish("0", 10, length: 1_200_000)
        let small = try (1...5).map { try world.publish("\($0)", UInt64(10 + $0)) }
        try await world.route("eth0")
        try await world.withDaemon(["queue": ["max_active": "1"]]) { daemon in
            try await daemon.waitForNetwork("unmetered")
            let first = try await daemon.add(world.url("0"), ["max_retries": 0])
            try await daemon.waitForBytes(50_000, of: first)
            var ids: [Int64] = []
            for index in 1...5 { ids.append(try await daemon.add(world.url("\(index)"), ["max_retries": 0])) }

            try await world.home.ip("link", "set", "eth0", "down")
            try await daemon.waitForNetwork("offline")
            for id in [first] + ids { try await daemon.waitsForNetwork(id) }

            try await world.home.ip("link", "set", "eth0", "up")
            try await world.home.ip("-6", "addr", "add", "2001:db8:0::2/64", "dev", "eth0", "nodad")
            try await world.route("eth0")
            try await daemon.completes(first, big)
            for (id, source) in zip(ids, small) { try await daemon.completes(id, source) }
            for id in [first] + ids { #expect(Set(try await daemon.waitReasons(of: id)) == ["network"]) }
            #expect(try await daemon.networkStates() == ["unmetered", "offline", "unmetered"])
            // The big one went on where it was, and the order is that in which they were added.
            try await eventually("the ends are logged") {
                let log = try world.nginx.log
                return log.count { $0.target != "/0" } >= 5 && log.last { $0.target == "/0" }?.status == 206
            }
            #expect(try world.nginx.log.map(\.target).filter { $0 != "/0" } == ["/1", "/2", "/3", "/4", "/5"])
        }
    }

    @Test(arguments: [false, true]) func withoutADefaultRouteTasksWaitAndResumeStillTries(isIPv6: Bool) async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 20)
        let url = isIPv6 ? world.url6("f") : world.url("f")
        try await world.withDaemon { daemon in
            #expect(try await daemon.networkStates() == ["offline"])
            let id = try await daemon.add(url, ["max_retries": 0])
            try await daemon.waitsForNetwork(id)
            for _ in 1...2 {
                let starts = try await daemon.events(of: id, types: "task.started").count
                _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
                try await eventually("it is tried") {
                    try await daemon.events(of: id, types: "task.started").count > starts
                }
                try await daemon.waitsForNetwork(id)
            }
            try await world.route("eth0")
            try await daemon.completes(id, source)
            try await world.unroute("eth0")
            try await daemon.waitForNetwork("offline")
            let second = try await daemon.add(url, ["max_retries": 0])
            try await daemon.waitsForNetwork(second)
            try await world.route("eth0")
            try await daemon.completes(second, source)
        }
    }

    /// Hosts of the local network are reachable without any default route.
    @Test func anOfflineNetworkDoesNotHoldBackAFirstTry() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 30)
        try await world.home.ip("route", "add", "\(NetworkWorld.server)/32", "via", "198.51.100.1")
        try await world.withDaemon { daemon in
            try await daemon.waitForNetwork("offline")
            let id = try await daemon.add(world.url("f"))
            try await daemon.completes(id, source)
            #expect(try await daemon.waitReasons(of: id) == [])
            // Such a network comes and goes, too, and the state stays.
            try await world.home.ip("link", "set", "eth0", "down")
            try await eventually("the link is seen to be down") {
                let status = try await daemon.call("network.status")
                return status["interfaces"]?.arrayValue?.first { $0["name"] == "eth0" }?["running"] == false
            }
            let second = try await daemon.add(world.url("f"))
            try await daemon.waitsForNetwork(second)
            try await world.home.ip("link", "set", "eth0", "up")
            try await world.home.ip("route", "add", "\(NetworkWorld.server)/32", "via", "198.51.100.1")
            try await daemon.completes(second, source)
            #expect(try await daemon.networkStates() == ["offline"])
        }
    }

    /// The old connection is dead without an error: the task reconnects instead of waiting for a timeout.
    @Test func aChangedAddressMakesTasksReconnect() async throws {
        let world = try await NetworkWorld(rate: 100_000)
        let source = try world.publish("f", 40, length: 900_000)
        try await world.route("eth0")
        try await world.withDaemon { daemon in
            let id = try await daemon.add(world.url("f"), ["max_retries": 0, "idle_timeout": 600])
            try await daemon.waitForBytes(100_000, of: id)
            try await world.home.ip("addr", "del", "198.51.100.2/24", "dev", "eth0")
            try await world.home.ip("addr", "add", "198.51.100.3/24", "dev", "eth0")
            try await world.home.ip("route", "add", "default", "via", "198.51.100.1", "metric", "100")
            try await daemon.completes(id, source)
            // The server may not know yet that the first request has ended.
            try await eventually("the second is logged") { try world.nginx.log.contains { $0.range != "-" } }
            let log = try world.nginx.log
            #expect(log.count { $0.status == 206 && $0.range != "-" } == 1, "\(log)")
            #expect(try await daemon.task(id)["attempts"] == 1)
        }
    }

    /// What a portal or a network without the server has answered says nothing about the next network.
    @Test func aURLThatWasMissingInOneNetworkIsAskedForInTheNext() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 45)
        try await world.route("eth0")
        try await world.withDaemon { daemon in
            // Content that is no page proves the network: from then on a 404 is the server's.
            try await daemon.completes(try await daemon.add(world.url("f")), source)
            try await daemon.fails(try await daemon.add(world.url("gone")), "http_status")
            try await daemon.fails(try await daemon.add(world.url("gone")), "blocked_url")
            try await world.unroute("eth0")
            try await world.address("wwan0")
            try await world.route("wwan0")
            try await eventually("the other network has no failed URLs") {
                try await daemon.call("failed_url.list")["entries"] == []
            }
            try await daemon.fails(try await daemon.add(world.url("gone")), "http_status")
        }
    }

    @Test func tasksThatWaitForTheNetworkContinueAfterARestart() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 50)
        try await world.withDaemon { daemon in
            let id = try await daemon.add(world.url("f"), ["max_retries": 0])
            try await daemon.waitsForNetwork(id)
            await daemon.kill9()
            try await daemon.start()
            // The daemon tries it once, since the network may have changed meanwhile.
            try await eventually("it is tried") {
                try await daemon.events(of: id, types: "task.started").count >= 2
            }
            try await daemon.waitsForNetwork(id)
            try await daemon.stop()
            try await world.route("eth0")
            try await daemon.start()
            try await daemon.completes(id, source)
            #expect(try await daemon.networkStates() == ["offline", "offline", "unmetered"])
            let types = try await daemon.events(types: "daemon.started", "network.changed").compactMap {
                $0["type"]?.stringValue
            }
            #expect(types == Array(repeating: ["daemon.started", "network.changed"], count: 3).flatMap(\.self))
        }
    }

    @Test func aPausedQueueStartsNothingWhenTheNetworkReturns() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 60)
        try await world.withDaemon { daemon in
            let (id, paused) = (try await daemon.add(world.url("f")), try await daemon.add(world.url("f")))
            for id in [id, paused] { try await daemon.waitsForNetwork(id) }
            _ = try await daemon.call("task.pause", ["ids": [.integer(paused)]])
            _ = try await daemon.call("queue.pause")
            try await world.route("eth0")
            try await daemon.wait(id, for: "queued")
            _ = try await daemon.call("queue.resume")
            try await daemon.completes(id, source)
            #expect(try await daemon.view(paused).state == "paused")
        }
    }

    @Test func aNameServerThatComesUpLateIsWaitedFor() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 70)
        let directory = try TemporaryDirectory("xfer-dns")
        try FileTree.write(
            "nameserver \(NetworkWorld.server)\noptions timeout:1 attempts:1\n", to: directory.file("resolv.conf"))
        try await world.withDaemon(resolvConf: directory.file("resolv.conf")) { daemon in
            let id = try await daemon.add("http://files.example:\(world.nginx.httpPort)/f")
            let view = try await daemon.waitsForNetwork(id)
            #expect(view.errorReason == "dns_failure")
            try await world.route("eth0")
            // There is a network now, but no server that knows the name: that is a failure like others.
            try await eventually("it backs off") { try await daemon.waitReasons(of: id).contains("retry") }
            let server = try NameServer(answering: NetworkWorld.server, in: world.away)
            try await daemon.completes(id, source)
            await server.stop()
        }
    }

    /// The disk of the state is full when the network goes, and has room again only after it came back.
    ///
    /// The daemon can store nothing of what happens meanwhile, and loses nothing.
    @Test(.enabled(if: Machine.canMount, "needs to mount file systems"))
    func networkChangesWhileTheDatabaseIsUnwritableAreHandled() async throws {
        let disk = try SmallFileSystem(bytes: 16 << 20)
        let world = try await NetworkWorld(rate: 100_000)
        let big = try world.publish("0", 90, length: 900_000)
        let small = try world.publish("1", 91)
        try await world.route("eth0")
        try await world.withDaemon(["queue": ["max_active": "1"]], stateDirectory: disk.path) { daemon in
            try await daemon.waitForNetwork("unmetered")
            let first = try await daemon.add(world.url("0"), ["max_retries": 0])
            let second = try await daemon.add(world.url("1"), ["max_retries": 0])
            try await daemon.waitForBytes(100_000, of: first)
            for name in ["filler", "filler2"] {
                try? FileTree.write([UInt8](repeating: 0, count: 16 << 20), to: "\(disk.path)/\(name)")
            }
            try await eventually("a commit fails") { try await daemon.call("daemon.status")["degraded"] == true }
            try await world.home.ip("link", "set", "eth0", "down")
            try await daemon.waitForNetwork("offline")
            // The transfers go on being readable, and no task has ended.
            for id in [first, second] { #expect(try await daemon.view(id).isTerminal == false) }
            try await world.home.ip("link", "set", "eth0", "up")
            try await world.home.ip("-6", "addr", "add", "2001:db8:0::2/64", "dev", "eth0", "nodad")
            try await world.route("eth0")
            try await daemon.waitForNetwork("unmetered")
            for name in ["filler", "filler2"] { FileTree.remove("\(disk.path)/\(name)") }
            try await daemon.completes(first, big)
            try await daemon.completes(second, small)
            for id in [first, second] {
                #expect(try await daemon.events(of: id, types: "task.completed").count == 1)
                #expect(try await daemon.task(id)["attempts"]?.integerValue ?? 0 <= 1)
            }
        }
    }

    @Test func withoutAMonitorTheNetworkIsUnknownAndNoTaskIsHeldBack() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 80)
        try await world.withDaemon(["network": ["monitor": "false"]]) { daemon in
            #expect(try await daemon.networkStates() == ["unknown"])
            let id = try await daemon.add(world.url("f"))
            try await eventually("it backs off") { try await daemon.waitReasons(of: id).contains("retry") }
            try await world.route("eth0")
            try await daemon.completes(id, source)
            let status = try await daemon.call("network.status")
            #expect(status["state"] == "unknown" && status["monitored"] == false && status["interfaces"] == [])
            // The daemon monitors the network from now on.
            try daemon.configure(["network": ["monitor": "true"]])
            daemon.reload()
            try await daemon.waitForNetwork("unmetered")
            try daemon.configure(["network": ["monitor": "false"]])
            daemon.reload()
            try await daemon.waitForNetwork("unknown")
        }
    }
}

/// Answers every question for an address with the same one (RFC 1035 §4).
private struct NameServer {
    private static let program = """
        import socket, sys
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((sys.argv[1], 53))
        while True:
            query, client = server.recvfrom(512)
            end = query.index(0, 12) + 5
            isA = query[end - 4:end - 2] == b"\\0\\1"
            answer = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\1\\0\\4" + socket.inet_aton(sys.argv[1]) if isA else b""
            head = query[:2] + b"\\x81\\x80\\0\\1" + (b"\\0\\1" if isA else b"\\0\\0") + b"\\0\\0\\0\\0"
            server.sendto(head + query[12:end] + answer, client)
        """

    private let process: ChildProcess

    init(answering address: String, in namespace: NetworkNamespace) throws {
        let python = try #require(Command.find("python3"))
        let command = try namespace.launcher() + [python, "-c", Self.program, address]
        process = try ChildProcess(command[0], Array(command.dropFirst()), options: ChildProcess.Options())
    }

    func stop() async {
        process.signal(9)
        await process.exit()
    }
}
