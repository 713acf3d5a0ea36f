import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// The daemon is killed while responses are kept, trimmed and handed out: nothing wrong is used afterwards, nothing is left.
@Suite struct CacheKillTests {
    @Test func aCacheOfAKilledDaemonHoldsOnlyRightBytesAndNoLeftovers() async throws {
        let server = try await FaultServer()
        let sources = (0..<10).map { SourceVersion.cached(UInt64($0), length: 900_000, "max-age=600") }
        for (number, source) in sources.enumerated() { server.serve("/\(number)", source) }
        let options = DaemonFixture.Options(settings: ["cache": ["max_bytes": "5000000"]])
        var random = SplitMix64(seed: 9)
        try await withDaemon(options) { daemon in
            for round in 0..<Campaign.rounds(12) {
                var ids: [(id: Int64, number: Int)] = []
                // Kept, over the limit, and used, all at the same time.
                for turn in 0..<12 {
                    let number = Int.random(in: 0..<10, using: &random)
                    let kind = turn % 3 == 0 ? "data" : "download"
                    let policy = turn % 2 == 0 ? "protocol" : "revalidate"
                    let id = try await daemon.add(
                        server.url("/\(number)"), ["kind": .string(kind), "cache_policy": .string(policy)])
                    ids.append((id, number))
                }
                try await Campaign.elapse(.milliseconds(Int.random(in: 0..<400, using: &random)))
                await daemon.kill9()
                try await daemon.start()
                for (id, number) in ids {
                    let view = try await daemon.complete(id)
                    if view.finalPath != nil {
                        try expectFile(view, is: sources[number])
                    } else {
                        #expect(try await daemon.result(of: id) == sources[number].bytes)
                    }
                    #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
                }
                if round % 3 == 2 { try await daemon.expectTidyCache() }
                #expect(try await daemon.cacheStats().size <= 5_900_000)
            }
            await daemon.kill9()
            try await daemon.start()
            try await daemon.expectTidyCache()
            let parts = try FileTree.entries(below: daemon.downloads).filter { $0.hasSuffix(".part") }
            #expect(parts == [])
            for number in 0..<10 {
                let used = try await daemon.fetch(server.url("/\(number)"), .data, "prefer_cache")
                #expect(used.bytes == sources[number].bytes)
            }
        }
    }
}
