import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// How many transfers a host has at once where the configuration sets no number.
struct HostWindowTests {
    private static let automatic = DaemonFixture.Options(
        settings: ["queue": ["max_active": "auto", "max_active_per_host": "auto"]])

    /// What the server counts.
    private struct Load {
        var now = 0
        var most = 0
        var refusals = 0
        /// Opens with the next refusal.
        var nextRefusal = Gate()
        /// True once no answer waits for a refusal any more.
        var isSettled = false
    }

    @Test(arguments: [1, 2]) func aServerThatRefusesSomeAtOnceServesEveryFileAndNoTaskWaits(limit: Int) async throws {
        let server = try await FaultServer()
        let load = NIOLockedValueBox(Load())
        server.onAnyOther { _ in
            let (isServed, refusal) = load.withLockedValue { load in
                let refusal = load.nextRefusal
                guard load.now >= limit else {
                    load.now += 1
                    return (true, refusal)
                }
                load.refusals += 1
                if !load.isSettled { load.nextRefusal = Gate() }
                return (false, refusal)
            }
            guard isServed else {
                refusal.open()
                return Reply(429, text: "fewer, please")
            }
            // Requests meet: while the window is too large, another one comes and is refused.
            await refusal.wait()
            load.withLockedValue { $0.now -= 1 }
            return Reply(200, text: "ok")
        }
        try await withDaemon(Self.automatic) { daemon in
            let urls = (1...40).map { JSONValue.object(["url": .string(server.url("/file\($0)"))]) }
            _ = try await daemon.call("task.add", ["tasks": .array(urls)])
            try await eventually("the window is what the server serves") {
                let hosts = try await daemon.call("queue.hosts")["hosts"]?.arrayValue ?? []
                return hosts.count == 1 && hosts.first?["window"]?.integerValue ?? 99 <= Int64(limit)
            }
            let last = load.withLockedValue { load in
                load.isSettled = true
                return load.nextRefusal
            }
            last.open()
            try await eventually("all are there") {
                try await daemon.call("queue.stats")["counts"]?["completed"] == 40
            }
            // A 429 that counted as an attempt would have paused the host for five seconds.
            #expect((1...10).contains(load.withLockedValue(\.refusals)))
        }
    }

    @Test func aPlainServerSeesSixConnectionsAtMost() async throws {
        let server = try await FaultServer()
        let load = NIOLockedValueBox(Load())
        // No answer before as many requests are under way as a window begins with, so that requests meet.
        let haveMet = Gate()
        server.onAnyOther { _ in
            let most = load.withLockedValue { load in
                load.now += 1
                load.most = max(load.most, load.now)
                return load.most
            }
            if most >= 6 { haveMet.open() }
            await haveMet.wait()
            load.withLockedValue { $0.now -= 1 }
            return Reply(200, text: "ok")
        }
        try await withDaemon(Self.automatic) { daemon in
            let urls = (1...60).map { JSONValue.object(["url": .string(server.url("/file\($0)"))]) }
            _ = try await daemon.call("task.add", ["tasks": .array(urls)])
            try await eventually("all are there") {
                try await daemon.call("queue.stats")["counts"]?["completed"] == 60
            }
            #expect(load.withLockedValue(\.most) == 6 && server.connectionCount <= 6)
        }
    }

    @Test func aHostsOwnLimitHoldsShowsItselfAndSurvivesARestart() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.onAnyOther { _ in
            var reply = Reply(200, text: "ok")
            reply.headGate = gate
            return reply
        }
        let host = "127.0.0.1:\(server.port)"
        try await withDaemon(Self.automatic) { daemon in
            let set = try await daemon.ctl("limit", "--host", host, "--connections", "1")
            #expect(set.exit == .code(0) && set.output.contains("at most 1"), "\(set)")
            await daemon.kill9()
            try await daemon.start()
            var tasks: [Int64] = []
            for number in 1...3 { tasks.append(try await daemon.add(server.url("/file\(number)"))) }
            try await eventually("one request is under way") { server.requests.count == 1 }
            let waiting = try await daemon.task(tasks[2])
            #expect(waiting["wait"]?["reason"] == "host_full" && waiting["wait"]?["limit"] == 1, "\(waiting)")
            let listed = try await daemon.ctl("hosts")
            #expect(listed.output.contains("at most 1 connection"), "\(listed)")
            gate.open()
            for task in tasks { try await daemon.complete(task) }
            let cleared = try await daemon.ctl("limit", "--host", host, "--connections", "default")
            #expect(cleared.output.contains("automatic"), "\(cleared)")
            // Without the port it is another host: the answer says so.
            let other = try await daemon.ctl("limit", "--host", "127.0.0.1", "--connections", "1")
            #expect(other.output.contains("127.0.0.1:80 and :443"), "\(other)")
            #expect(other.output.contains("In use, with separate limits: \(host);"), "\(other)")
            let shown = try await daemon.ctl("limit", "--host", "127.0.0.1:443")
            #expect(shown.exit == .code(0) && shown.output.contains("at most 1"), "\(shown)")
        }
    }

    @Test func aHostsLimitsWithoutTheirHostAreRefused() async throws {
        let cases = [
            (["limit", "--connections", "2"], "need --host"),
            (["limit", "--host", "example.org", "--max-active", "2", "--connections", "1"], "only"),
            (["limit", "--host", "https://example.org/", "--connections", "1"], "host"),
        ]
        try await withDaemon { daemon in
            for (words, part) in cases {
                let refused = try await Command.run(
                    "\(Command.productsDirectory)/xferctl", words, environment: daemon.environment,
                    directory: daemon.downloads)
                #expect(refused.exit != .code(0) && refused.errors.contains(part), "\(refused)")
            }
        }
    }
}
