import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// kill -9 at any moment costs at most one checkpoint interval of bytes per active task and nothing else.
@Suite(.serialized, .enabled(if: NginxFixture.isInstalled, "needs nginx-light")) struct KillTests {
    private static let interval: Int64 = 8 << 20

    @Test func aBigDownloadSurvivesTwentyKillsWithRightBytes() async throws {
        let length: Int64 = 256 << 20
        let source = SourceVersion.tagged(50, length: length)
        // The server sends slowly enough for every kill to come while bytes flow.
        var slow = NginxFixture.Options()
        slow.limitRate = 16 << 20 / Int64(Patience.factor)
        let nginx = try await NginxFixture(slow)
        try nginx.publish(source, as: "big.bin")
        let options = DaemonFixture.Options(settings: [
            "download": ["checkpoint_bytes": "\(Self.interval)", "checkpoint_interval": "2"]
        ])
        var random = SplitMix64(seed: 50)
        let moments = (0..<20).map { _ in Int64.random(in: 0..<length * 9 / 10, using: &random) }.sorted()

        try await withDaemon(options) { daemon in
            let checksum = JSONValue.string(source.checksum().description)
            let id = try await daemon.add(nginx.url("/big.bin"), ["checksum": checksum])
            var heldAtKill: [Int64] = []
            for moment in moments {
                try await daemon.waitForBytes(moment, of: id)
                heldAtKill.append(try await daemon.view(id).received)
                await daemon.kill9()
                try await daemon.start()
            }
            try expectFile(try await daemon.complete(id), is: source)

            try await daemon.expectDownloads(["big.bin"])
            #expect(try await daemon.events(of: id, types: "task.completed").count == 1)
            #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
            let log = try await nginx.finish()
            #expect(log.reduce(0) { $0 + $1.bodyBytes } - length <= 20 * Self.interval)
            // After each kill no more than one interval of what had been reported is asked for again, and nothing when
            // all was there. The last bytes may come between the report and the kill.
            let offsets = log.compactMap { $0.offset }.sorted()
            for held in heldAtKill where held > Self.interval && held < length - Self.interval {
                #expect(offsets.contains { $0 >= held - Self.interval }, "\(held) held, asked from \(offsets)")
            }
        }
    }

    @Test func aSegmentedDownloadSurvivesSeveralKillsWithRightBytes() async throws {
        let length: Int64 = 48 << 20
        let (connections, kills) = (8, 5)
        let source = SourceVersion.tagged(51, length: length)
        var slow = NginxFixture.Options()
        slow.limitRate = 1 << 20 / Int64(Patience.factor)
        let nginx = try await NginxFixture(slow)
        try nginx.publish(source, as: "big.bin")
        let interval: Int64 = 1 << 20
        let options = DaemonFixture.Options(settings: [
            "download": ["checkpoint_bytes": "\(interval)", "checkpoint_interval": "2"]
        ])
        var random = SplitMix64(seed: 51)
        let moments = (0..<kills).map { _ in Int64.random(in: 1 << 20..<length * 8 / 10, using: &random) }.sorted()

        try await withDaemon(options) { daemon in
            let checksum = JSONValue.string(source.checksum().description)
            let id = try await daemon.add(
                nginx.url("/big.bin"), ["checksum": checksum, "segments": .integer(Int64(connections))])
            for moment in moments {
                try await daemon.waitForBytes(moment, of: id)
                await daemon.kill9()
                try await daemon.start()
            }
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["big.bin"])
            #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
            let log = try await nginx.finish()
            #expect(log.filter { $0.range != "-" }.count >= connections)
            // What was at stake on each connection, and what the server had sent ahead, a second's worth.
            let perConnection = interval + slow.limitRate
            let waste = log.reduce(0) { $0 + $1.bodyBytes } - length
            #expect(waste <= Int64((kills + 1) * connections) * perConnection, "\(waste) bytes")
        }
    }

    @Test func manySmallTasksSurviveKillsInFlight() async throws {
        let sources = (0..<200).map { SourceVersion.tagged(1000 + $0, length: 8000 + Int64($0) * 97) }
        var slow = NginxFixture.Options()
        slow.limitRate = 16 << 10
        let nginx = try await NginxFixture(slow)
        for source in sources { try nginx.publish(source, as: "f\(source.seed)") }
        let options = DaemonFixture.Options(settings: ["queue": ["max_active": "24", "max_active_per_host": "24"]])
        try await withDaemon(options) { daemon in
            var ids: [Int64] = []
            for chunk in stride(from: 0, to: 200, by: 50) {
                let entries = sources[chunk..<chunk + 50].map {
                    JSONValue.object(["url": .string(nginx.url("/f\($0.seed)"))])
                }
                let result = try await daemon.call("task.add", ["tasks": .array(entries)])
                ids += result["ids"]?.arrayValue?.compactMap(\.integerValue) ?? []
            }
            #expect(Set(ids).count == 200)
            for threshold: Int64 in [10, 50, 90, 130, 170] {
                try await eventually("\(threshold) tasks are completed", within: Patience.long) {
                    let stats = try await daemon.call("queue.stats")
                    return (stats["counts"]?["completed"]?.integerValue ?? 0) >= threshold
                }
                await daemon.kill9()
                try await daemon.start()
            }
            for id in ids { try await daemon.complete(id) }

            let terminal = try await daemon.events(types: "task.completed", "task.failed", "task.cancelled")
            #expect(terminal.count == 200)
            #expect(Set(terminal.compactMap { $0["task_id"]?.integerValue }) == Set(ids))
            for source in sources { #expect(try source.equals(file: "\(daemon.downloads)/f\(source.seed)")) }
            let strays = try daemon.downloaded.filter { name in !sources.contains { "f\($0.seed)" == name } }
            #expect(strays == [])
        }
    }

    @Test func everyAnsweredCallSurvivesAKill() async throws {
        try await withDaemon { daemon in
            var answered: [Int64] = []
            for round in 0..<5 {
                let session = try daemon.session()
                for index in 0..<20 {
                    let params: JSONValue = [
                        "url": .string("http://127.0.0.1:9/\(round)/\(index)"), "paused": true,
                        "client_key": .string("\(round)-\(index)"),
                    ]
                    let result = try await session.call("task.add", params)
                    answered.append(try #require(result["task"]?["id"]?.integerValue))
                }
                await daemon.kill9()
                try await daemon.start()
            }
            #expect(Set(answered).count == 100)
            for id in answered { #expect(try await daemon.view(id).state == "paused") }
            // A lost answer is asked for again: the same task, not another one.
            let again = try await daemon.call(
                "task.add", ["url": "http://127.0.0.1:9/0/0", "paused": true, "client_key": "0-0"])
            #expect(again["existing"] == true)
            #expect(again["task"]?["id"]?.integerValue == answered.first)
        }
    }

    @Test func eventSequenceNumbersContinueAfterAKill() async throws {
        try await withDaemon { daemon in
            for _ in 0..<5 {
                for _ in 0..<5 { try await daemon.add("http://127.0.0.1:9/x", ["paused": true]) }
                await daemon.kill9()
                try await daemon.start()
            }
            let numbers = try await daemon.events().compactMap { $0["seq"]?.integerValue }
            let first = try #require(numbers.first)
            #expect(numbers == Array(first..<first + Int64(numbers.count)))
            #expect(try await daemon.events(types: "task.added").count == 25)
        }
    }
}

extension NginxFixture.LogLine {
    /// First byte asked for; nil without a range.
    fileprivate var offset: Int64? {
        range.hasPrefix("bytes=") ? Int64(range.dropFirst(6).prefix { $0 != "-" }) : nil
    }
}
