import StrictJSON
import Testing
import XferTestSupport

/// The property over all rules: whatever the server does, a published file equals one version of the source from first
/// to last byte, or the task is not completed.
@Suite struct LyingServerPropertyTests {
    @Test func aFilePublishedFromALyingServerIsOneVersion() async throws {
        let seeds = 0..<UInt64(Campaign.rounds(150) * Campaign.soakFactor)
        let options = DaemonFixture.Options(settings: [
            "queue": ["max_active": "8", "max_active_per_host": "8"]
        ])
        try await withDaemon(options) { daemon in
            let server = try await FaultServer()
            var completed = 0
            var tasks: [(id: Int64, liar: LyingServer)] = []
            for seed in seeds {
                let liar = LyingServer(seed: seed)
                server.serve("/\(seed)", liar)
                tasks.append((try await daemon.add(server.url("/\(seed)"), ["idle_timeout": 5]), liar))
            }
            for (id, liar) in tasks {
                let view = try await daemon.finish(id)
                guard view.state == "completed" else { continue }
                completed += 1
                let path = try #require(view.finalPath)
                #expect(liar.isOneVersion(try FileTree.read(path)), "\(liar)")
            }
            // A daemon that completes nothing would keep the promise too.
            #expect(completed * 2 > tasks.count)
            let strays = try daemon.downloaded.filter { $0.hasSuffix(".part") }
            let kept = try await daemon.keptPartCount(tasks.map(\.id))
            #expect(strays.count <= kept)
        }
    }
}

extension DaemonFixture {
    /// How many of these tasks failed and so may keep their bytes.
    fileprivate func keptPartCount(_ ids: [Int64]) async throws -> Int {
        var count = 0
        for id in ids where try await view(id).state == "failed" { count += 1 }
        return count
    }
}
