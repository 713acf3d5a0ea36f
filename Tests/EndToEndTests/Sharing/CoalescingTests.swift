import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Tasks of several clients that want the same bytes, through the real daemon. Requests are counted at the server.
@Suite struct CoalescingTests {
    @Test func equalAddsOfTenClientsMakeOneRequest() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(1, length: 400_000)
        let gate = Gate()
        server.serve("/a", source).always(.stall(at: 100_000, until: gate))
        try await withDaemon { daemon in
            var ids: [Int64] = []
            for index in 0..<10 {
                // The server's silence is as long as this machine is slow.
                let fields: JSONObject = ["output": .string("f\(index)"), "idle_timeout": 3600]
                ids.append(try await daemon.add(server.url("/a"), fields))
            }
            for id in ids { try await daemon.waitForBytes(100_000, of: id) }
            let alone = try await daemon.ctl("add", "--no-coalesce", "-o", "alone", server.url("/a"))
            #expect(alone.isSuccess, "\(alone)")
            try await eventually("the eleventh asks for itself") { server.requests.count == 2 }
            gate.open()
            for id in ids { try await daemon.complete(id) }
            #expect(try await daemon.task(ids[0])["coalesce"] == nil)
            try await eventually("the eleventh is there") { try daemon.downloaded.count == 11 }
            for index in 0..<10 { #expect(try source.equals(file: "\(daemon.downloads)/f\(index)")) }
            #expect(server.requests.count == 2)
        }
    }

    /// The five are the same tasks after the crash, and go on together where they were.
    @Test func tasksThatShareATransferContinueTogetherAfterAKill() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(2, length: 3 << 20)
        let gate = Gate()
        let served = server.serve("/a", source)
        served.next([.stall(at: 2 << 20, until: gate)])
        let options = DaemonFixture.Options(settings: [
            "download": ["checkpoint_bytes": "1Mi", "checkpoint_interval": "1"]
        ])
        try await withDaemon(options) { daemon in
            var ids: [Int64] = []
            for index in 0..<5 { ids.append(try await daemon.add(server.url("/a"), ["output": .string("f\(index)")])) }
            for id in ids { try await daemon.waitForBytes(2 << 20, of: id) }
            // A checkpoint comes while the server is silent.
            let first = ids[0]
            try await eventually("some of it is durable") {
                try await daemon.call("task.read", ["id": .integer(first), "length": 1])["data"]?.stringValue?.isEmpty
                    == false
            }
            #expect(try FileTree.entries(below: daemon.downloads).count == 1)
            #expect(server.requests.count == 1)
            await daemon.kill9()
            gate.open()
            try await daemon.start()
            for id in ids { try await daemon.complete(id) }
            for index in 0..<5 { #expect(try source.equals(file: "\(daemon.downloads)/f\(index)")) }
            try await daemon.expectDownloads((0..<5).map { "f\($0)" })
            #expect(server.requests.count == 2)
            #expect(server.requests.last?.header("Range") != nil)
            for id in ids { #expect(try await daemon.events(of: id, types: "task.restored").count == 1) }
        }
    }

    /// Killed while some tasks have their files: no file is wrong, nothing is fetched again, and nothing is left over.
    @Test func aKillWhileFilesAreHandedOutCorruptsNoFileAndFetchesNothingAgain() async throws {
        let server = try await FaultServer()
        var random = SplitMix64(seed: 5)
        for round in 0..<8 {
            let source = SourceVersion.tagged(UInt64(round), length: 2 << 20)
            let path = "/r\(round)"
            server.serve(path, source)
            try await withDaemon { daemon in
                let names = (0..<30).map { "f\($0)" }
                let other = try daemon.directory.makeDirectory("downloads/other")
                let entries = names.enumerated().map { index, name in
                    var entry: JSONObject = ["url": .string(server.url(path)), "output": .string(name)]
                    if index % 3 == 1 { entry["dir"] = .string(other) }
                    return JSONValue.object(entry)
                }
                let result = try await daemon.call("task.add", ["tasks": .array(entries)])
                let ids = result["ids"]?.arrayValue?.compactMap(\.integerValue) ?? []
                #expect(ids.count == names.count)
                let wanted = Int64.random(in: 1..<25, using: &random)
                try await eventually("some have their files", within: Patience.long) {
                    let stats = try await daemon.call("queue.stats")
                    return (stats["counts"]?["completed"]?.integerValue ?? 0) >= wanted
                }
                await daemon.kill9()
                try await daemon.start()
                for id in ids { try await daemon.complete(id) }
                for (index, name) in names.enumerated() {
                    let directory = index % 3 == 1 ? other : daemon.downloads
                    #expect(try source.equals(file: "\(directory)/\(name)"), "round \(round), \(name)")
                }
                try await eventually("nothing is left over") {
                    try FileTree.entries(below: daemon.downloads).allSatisfy { !$0.contains(".part") }
                }
                let requests = server.requests(to: path)
                #expect(requests.count == 1, "round \(round): \(requests.map(\.headers))")
                let ends = try await daemon.events(types: "task.completed", "task.failed", "task.cancelled")
                #expect(ends.count == ids.count)
            }
        }
    }
}
