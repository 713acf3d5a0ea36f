import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// SDWebImageDownloader's order, limits and background tasks, seen from outside.
@Suite struct OrderTests {
    /// With max 1, seven tasks 1–7 added in one call, and 8–14 in one call while 7 runs: 7, 14 … 8, 6 … 1.
    @Test func lifoOrderAppliesToTasksAddedMeanwhile() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        for number in 1...14 { server.serve("/\(number)", .tagged(UInt64(number), length: 100)) }
        server.serve("/7", .tagged(7, length: 20_000)).always(.stall(at: 10_000, until: gate))
        try await withDaemon(DaemonFixture.Options(settings: ["queue": ["max_active": "1", "order": "lifo"]])) {
            daemon in
            func add(_ numbers: ClosedRange<Int>) async throws {
                let tasks = numbers.map { JSONValue.object(["url": .string(server.url("/\($0)"))]) }
                _ = try await daemon.call("task.add", ["tasks": .array(tasks)])
            }
            try await add(1...7)
            try await daemon.wait(7, for: "running")
            try await add(8...14)
            gate.open()
            for id in 1...14 { try await daemon.complete(Int64(id)) }
            let order = [7] + (8...14).reversed() + (1...6).reversed()
            #expect(server.requests.map(\.path) == order.map { "/\($0)" })
        }
    }

    /// At most 6 of 20 adds are active at once; `queue.pause` (`suspended`) holds the rest back, and cancelling all
    /// (`cancelAllDownloads`) ends everything.
    @Test func neverMoreThanSixOfTwentyTasksRunAndSuspendAndCancelApplyToAll() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        for number in 1...20 {
            server.serve("/\(number)", .tagged(UInt64(number), length: 20_000)).always(.stall(at: 10_000, until: gate))
        }
        let settings = ["queue": ["max_active_per_host": "20"]]
        try await withDaemon(DaemonFixture.Options(settings: settings)) { daemon in
            let tasks = (1...20).map { JSONValue.object(["url": .string(server.url("/\($0)"))]) }
            _ = try await daemon.call("task.add", ["tasks": .array(tasks)])
            try await eventually("six run") { server.requests.count == 6 }
            func counts() async throws -> JSONValue? { try await daemon.call("queue.stats")["counts"] }
            #expect(try await counts()?["running"] == 6)
            _ = try await daemon.call("queue.pause")
            gate.open()
            for id in 1...6 { try await daemon.complete(Int64(id)) }
            #expect(try await counts()?["queued"] == 14)
            #expect(server.requests.count == 6)
            let cancelled = try await daemon.call("task.cancel", ["filter": ["all": true]])
            #expect(cancelled["changed_count"] == 14)
            _ = try await daemon.call("queue.resume")
            #expect(try await counts()?["cancelled"] == 14)
            #expect(server.requests.count == 6)
        }
    }

    /// What names a profile is held to the profile's limit, whatever its group; others pass it.
    @Test func aProfilesOwnLimitHoldsForItsTasksOnly() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        for number in 1...6 {
            server.serve("/\(number)", .tagged(UInt64(number), length: 20_000)).always(.stall(at: 10_000, until: gate))
        }
        try await withDaemon { daemon in
            func set(_ limit: JSONValue) async throws {
                let profile: JSONObject = ["name": "p", "base_url": .string(server.url("/")), "max_active": limit]
                _ = try await daemon.call("profile.set", ["profile": .object(profile)])
            }
            try await set(1)
            _ = try await daemon.add("1", ["profile": "p"])
            _ = try await daemon.add("2", ["profile": "p", "group": "g"])
            _ = try await daemon.add("3", ["profile": "p", "priority": "high"])
            _ = try await daemon.add(server.url("/4"))
            try await eventually("one of the profile and the other run") { server.requests.count == 2 }
            try await daemon.waitForBytes(10_000, of: 4)
            #expect(server.requests.map(\.path).sorted() == ["/1", "/4"])
            try await set(2)
            try await eventually("another of the profile runs") { server.requests.count == 3 }
            #expect(server.requests.last?.path == "/3")
            for bad: JSONValue in [0, 10_001, "two"] {
                await #expect(throws: RPCRefusal.self) { try await set(bad) }
            }
            gate.open()
            for id in 1...4 { try await daemon.complete(Int64(id)) }
        }
    }

    /// ContinueInBackground: what a client asked for goes on when the client is killed.
    @Test func aTransferEndsWellWhoseClientIsKilled() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/file", .tagged(3, length: 50_000)).always(.stall(at: 20_000, until: gate))
        try await withDaemon { daemon in
            var options = ChildProcess.Options()
            options.environment = daemon.environment
            options.directory = daemon.downloads
            let client = try ChildProcess(
                "\(Command.productsDirectory)/xferctl", ["add", "--wait", server.url("/file")], options: options)
            try await eventually("it asks") { server.requests.count == 1 }
            try await daemon.waitForBytes(20_000, of: 1)
            client.signal(SIGKILL)
            #expect(await client.exit() == .signal(SIGKILL))
            gate.open()
            let path = try #require(try await daemon.complete(1).finalPath)
            #expect(try FileTree.read(path).count == 50_000)
        }
    }
}
