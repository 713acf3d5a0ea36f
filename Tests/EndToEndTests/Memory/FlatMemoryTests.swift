import StrictJSON
import Testing
import XferTestSupport

/// Bodies stream: what they weigh is on the disk (AFNetworking #2672).
@Suite struct FlatMemoryTests {
    /// 4 GiB in `make soak`, with room for them twice in the temporary directory.
    @Test func aLargeDownloadBesideAHundredResponsesDoesNotGrowTheDaemon() async throws {
        let large = SourceVersion.tagged(170, length: Machine.isSoak ? 4 << 30 : 256 << 20)
        let answer = SourceVersion.tagged(171, length: 1 << 20)
        let nginx = try await NginxFixture()
        try nginx.publish(large, as: "large")
        try nginx.publish(answer, as: "answer")
        let options = DaemonFixture.Options(settings: ["queue": ["max_active": "12", "max_active_per_host": "12"]])
        try await withDaemon(options) { daemon in
            let before = try daemon.residentKibibytes
            let download = try await daemon.add(nginx.url("/large"))
            let url = JSONValue.string(nginx.url("/answer"))
            let entries = (0..<100).map { _ -> JSONValue in ["kind": "data", "url": url] }
            let added = try await daemon.call("task.add", ["tasks": .array(entries)])
            let answers = (added["ids"]?.arrayValue ?? []).compactMap(\.integerValue)
            #expect(answers.count == 100)

            let view = try await eventually("all have ended", within: Patience.long) { () -> TaskView? in
                let counts = try await daemon.call("queue.stats")["counts"]
                let ended = ["completed", "failed", "cancelled"].compactMap { counts?[$0]?.integerValue }
                return ended.reduce(0, +) == 101 ? try await daemon.view(download) : nil
            }
            try expectFile(view, is: large)
            for id in answers { try await daemon.complete(id) }
            let peak = try daemon.peakResidentKibibytes
            // 100 MiB of answers alone would show. Every one of twelve connections has its buffers.
            #expect(peak - before < 48 << 10, "\(before) KiB, then \(peak) KiB")
        }
    }
}
