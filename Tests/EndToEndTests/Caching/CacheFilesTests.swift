import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// The cache directory when another program changes it, when it is full, and what the command line says about it.
@Suite struct CacheFilesTests {
    private func withKept(
        _ kind: CachedKind, _ body: (DaemonFixture, FaultServer, SourceVersion) async throws -> Void
    ) async throws {
        let server = try await FaultServer()
        let source = SourceVersion.cached(1, length: 600_000, "max-age=600")
        server.serve("/f", source)
        try await withDaemon { daemon in
            _ = try await daemon.fetch(server.url("/f"), kind, "protocol")
            try await daemon.expectTidyCache(1)
            try await body(daemon, server, source)
        }
    }

    private func blob(_ daemon: DaemonFixture) throws -> String {
        "\(daemon.stateDirectory)/cache/\(try #require(try daemon.blobs.first))"
    }

    @Test(arguments: CachedKind.allCases) func aTamperedCacheFileIsFetchedAgain(_ kind: CachedKind) async throws {
        try await withKept(kind) { daemon, server, source in
            for round in 1...3 {
                let path = try blob(daemon)
                var bytes = try FileTree.read(path)
                switch round {
                case 1: bytes[300_000] ^= 1
                case 2: bytes.removeLast()
                default: bytes.append(0)
                }
                try FileTree.write(bytes, to: path)
                let again = try await daemon.fetch(server.url("/f"), kind, "prefer_cache")
                #expect(again.bytes == source.bytes && again.cacheEvents.isEmpty && again.terminalCount == 1)
                #expect(server.requests.count == 1 + round)
                try await daemon.expectTidyCache(1)
            }
            // Without the network it is a miss, and not the damaged one.
            try FileTree.write([1, 2, 3], to: try blob(daemon))
            let offline = try await daemon.fetch(server.url("/f"), kind, "only_if_cached")
            #expect(offline.view.errorReason == "only_if_cached_miss")
            try await daemon.expectTidyCache(0)
        }
    }

    @Test(arguments: CachedKind.allCases) func aMissingCacheFileIsFetchedAgain(_ kind: CachedKind) async throws {
        try await withKept(kind) { daemon, server, source in
            unlink(try blob(daemon))
            let again = try await daemon.fetch(server.url("/f"), kind, "protocol")
            #expect(again.bytes == source.bytes && server.requests.count == 2)
            try await daemon.expectTidyCache(1)
        }
    }

    @Test func aRemovedCacheDirectoryIsMadeAgain() async throws {
        try await withKept(.data) { daemon, server, source in
            FileTree.remove("\(daemon.stateDirectory)/cache")
            let again = try await daemon.fetch(server.url("/f"), .data, "protocol")
            #expect(again.bytes == source.bytes && server.requests.count == 2)
            try await daemon.expectTidyCache(1)
            #expect(FileTree.mode("\(daemon.stateDirectory)/cache") == 0o700)
        }
    }

    @Test func aStartReconcilesCacheRowsWithCacheFiles() async throws {
        try await withKept(.download) { daemon, server, source in
            server.serve("/g", .cached(2, "max-age=600"))
            _ = try await daemon.fetch(server.url("/g"), .download, "protocol")
            let lost = try blob(daemon)
            try await daemon.stop()
            unlink(lost)
            try FileTree.write([1], to: "\(daemon.stateDirectory)/cache/stray")
            try FileTree.write([1], to: "\(daemon.stateDirectory)/cache/\(String(repeating: "0", count: 64))-1")
            try await daemon.start()
            try await eventually("the cache is swept") {
                try await daemon.cacheStats().entries == 1 && daemon.blobs.count == 1
            }
            for path in ["/f", "/g"] {
                let again = try await daemon.fetch(server.url(path), .download, "protocol")
                #expect(again.view.state == "completed")
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test func aCacheOverItsLimitEvictsTheLeastRecentlyUsedEntries() async throws {
        let server = try await FaultServer()
        for number in 0..<12 { server.serve("/\(number)", .cached(UInt64(number), length: 100_000, "max-age=600")) }
        try await withDaemon(DaemonFixture.Options(settings: ["cache": ["max_bytes": "1000000"]])) { daemon in
            for number in 0..<10 { _ = try await daemon.fetch(server.url("/\(number)"), .data, "protocol") }
            #expect(try await daemon.cacheStats() == (10, 1_000_000))
            // The first is used again: others are older now.
            _ = try await daemon.fetch(server.url("/0"), .data, "protocol")
            _ = try await daemon.fetch(server.url("/10"), .data, "protocol")
            try await eventually("it is trimmed") { try await daemon.cacheStats().size <= 500_000 }
            try await daemon.expectTidyCache(5)
            for (number, isKept) in [(0, true), (1, false), (6, false), (7, true), (10, true)] {
                let again = try await daemon.fetch(server.url("/\(number)"), .data, "only_if_cached")
                #expect((again.view.state == "completed") == isKept, "\(number)")
            }
            // One that would be the first to go is not kept at all.
            server.serve("/large", .cached(99, length: 500_001, "max-age=600"))
            _ = try await daemon.fetch(server.url("/large"), .data, "protocol")
            try await daemon.expectTidyCache(5)

            let trimmed = try await daemon.ctl("cache", "trim", "--max-bytes", "400K")
            #expect(trimmed.output == "3 removed, 293 KiB\n", "\(trimmed)")
            try await daemon.expectTidyCache(2)
            let old = try await daemon.call("cache.trim", ["max_age": 0])
            #expect(old["removed_count"] == 2)
            try await daemon.expectTidyCache(0)
        }
    }

    /// A response that a task is revalidating with the server stays, however narrow the limits.
    @Test func aCacheEntryInUseIsNotEvicted() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let source = SourceVersion.cached(0, length: 100_000, "max-age=600")
        let route = server.serve("/0", source)
        server.serve("/1", .cached(1, length: 100_000, "max-age=600"))
        try await withDaemon { daemon in
            for number in 0..<2 { _ = try await daemon.fetch(server.url("/\(number)"), .data, "protocol") }
            route.next([.stallHead(until: gate)])
            let id = try await daemon.add(server.url("/0"), ["kind": "data", "cache_policy": "revalidate"])
            try await eventually("the server is asked") { server.requests.count == 3 }
            #expect(try await daemon.call("cache.trim", ["max_age": 0])["removed_count"] == 1)
            gate.open()
            try await daemon.complete(id)
            #expect(try await daemon.result(of: id) == source.bytes)
            let events = try await daemon.events(of: id)
            #expect(events.contains { $0["type"] == "task.not_modified" })
            #expect(try await daemon.call("cache.trim", ["max_age": 0])["removed_count"] == 1)
            try await daemon.expectTidyCache(0)
        }
    }

    @Test func xferctlListsAndRemovesCacheEntries() async throws {
        try await withKept(.data) { daemon, server, _ in
            server.serve("/s?token=hunter2", .cached(3, "max-age=600"))
            let stats = try await daemon.ctl("cache")
            #expect(
                stats.output == "1 responses, 586 KiB of 1.0 GiB, kept for 7d00h since their last use\n", "\(stats)")
            let list = try await daemon.ctl("cache", "list")
            #expect(list.output.split(separator: "\n").count == 2 && list.output.contains("/f"), "\(list)")
            let entry = try #require(try await daemon.call("cache.list")["entries"]?.arrayValue?.first)
            let id = try #require(entry["id"]?.integerValue)
            let shown = try await daemon.ctl("cache", "get", "\(id)")
            #expect(shown.output.contains("Cache-Control: max-age=600"), "\(shown)")
            let refused = try await daemon.ctl("cache", "get", "4711")
            #expect(refused.exit == .code(3) && refused.errors.contains("no entry 4711"), "\(refused)")
            #expect(try await daemon.ctl("cache", "remove", "4711").exit == .code(3))
            #expect(try await daemon.ctl("cache", "remove", server.url("/f")).output == "1 removed\n")
            _ = try await daemon.ctl(
                "add", "--wait", "--cache-policy", "protocol", "--cache-key", "mine", server.url("/f"))
            _ = try await daemon.ctl("add", "--wait", "--store", server.url("/f"))
            #expect(try await daemon.cacheStats().entries == 2)
            let cleared = try await daemon.ctl("cache", "clear")
            #expect(cleared.output == "2 removed, 1.1 MiB\n", "\(cleared)")
            try await daemon.expectTidyCache(0)
        }
    }
}
