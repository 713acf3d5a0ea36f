import Testing
import XferModel
import XferTestSupport

@Suite struct LyingServerTests {
    /// The client the property test has to catch: resumes whatever came, with neither validators nor checks.
    private func gullibleDownload(_ liar: LyingServer) -> [UInt8]? {
        var bytes: [UInt8] = []
        for index in 0..<200 {
            let range = bytes.isEmpty ? [] : [HeaderField(name: "Range", value: "bytes=\(bytes.count)-")]
            let reply = liar.reply(
                to: RecordedRequest(index: index, connection: 1, method: "GET", target: "/", headers: range))
            guard (200...206).contains(reply.status), reply.rawHead == nil else { continue }
            for case .source(let version, let range) in reply.body { bytes += version.bytes(range) }
            if case .keepAlive = reply.ending { return bytes }
        }
        return nil
    }

    @Test func aLyingServerCatchesAClientThatTrustsIt() {
        let outcomes = (0..<100).map { (seed: UInt64) -> Bool in
            let liar = LyingServer(seed: seed, maxLength: 20_000)
            return gullibleDownload(liar).map { liar.isOneVersion($0) } ?? false
        }
        #expect(outcomes.filter { !$0 }.count > 20)
        #expect(outcomes.contains(true))
    }

    @Test func aLyingServerBecomesHonestAfterItsLies() {
        let liar = LyingServer(seed: 1, truthfulAfter: 5)
        let replies = (0..<10).map {
            liar.reply(to: RecordedRequest(index: $0, connection: 1, method: "GET", target: "/"))
        }
        #expect(replies.suffix(5).allSatisfy { $0.status == 200 })
        #expect(liar.description.split(separator: "\n").count == 11)
    }

    @Test func theSameSeedGivesTheSameLies() {
        func run() -> String {
            let liar = LyingServer(seed: 42)
            for index in 0..<20 {
                _ = liar.reply(to: RecordedRequest(index: index, connection: 1, method: "GET", target: "/"))
            }
            return liar.description
        }
        #expect(run() == run())
    }
}
