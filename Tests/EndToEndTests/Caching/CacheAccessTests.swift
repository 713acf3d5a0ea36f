import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Which users share cached responses, and which servers' responses are trusted.
@Suite struct CacheAccessTests {
    @Test(.enabled(if: Guest.isPossible)) func ownersDoNotSeeEachOthersEntries() async throws {
        let server = try await FaultServer()
        server.serve("/f", .cached(1, "max-age=600"))
        try await withGuest { daemon, guest in
            _ = try await daemon.fetch(server.url("/f"), .data, "protocol")
            let miss = try await guest([
                "add", "--wait", "-d", ".", "--cache-policy", "only_if_cached", server.url("/f"),
            ])
            #expect(miss.output.contains("only_if_cached_miss"), "\(miss)")
            let own = try await guest(["add", "--wait", "-d", ".", "--cache-policy", "protocol", server.url("/f")])
            #expect(own.exit == .code(0) && server.requests.count == 2, "\(own)")

            #expect(try await guest.call("cache.stats").result?["entries"] == 1)
            let mine = try await guest.call("cache.list").result?["entries"]?.arrayValue ?? []
            #expect(mine.map { $0["owner"] } == [.integer(guest.uid)])
            let all = try await daemon.call("cache.list", ["order": "asc"])["entries"]?.arrayValue ?? []
            #expect(all.map { $0["owner"] } == [0, .integer(guest.uid)])
            let operators = try #require(all.first?["id"])
            #expect(try await guest.call("cache.get", ["id": operators]).result == nil)
            let removed = try await guest.call("cache.remove", ["ids": [operators]]).result
            #expect(removed?["removed"] == [] && removed?["missing"] == [operators])
            for method in ["cache.clear", "cache.trim"] {
                #expect(try await guest.call(method).error.contains("operator"), "\(method)")
            }
            #expect(try await guest(["cache", "remove", server.url("/f")]).output == "1 removed\n")
            #expect(try await daemon.cacheStats().entries == 1)
        }
    }

    @Test func aPolicyThatDistrustsTheSenderHidesTheCacheEntry() async throws {
        let trust = try TrustFixture()
        let leaf = try trust.authority.issue()
        let server = try trust.server(leaf)
        let host = "localhost:\(server.port)"
        try await withDaemon(trust.options()) { daemon in
            let url = "https://\(host)/f"
            let first = try await daemon.fetch(url, .data, "prefer_cache")
            #expect(first.view.state == "completed", "\(first.view.json.text)")
            let requests = server.counts.requests.count
            #expect(try await daemon.fetch(url, .data, "only_if_cached").bytes == first.bytes)

            try await daemon.pin("site", host, [TrustFixture.foreignPin])
            let hidden = try await daemon.fetch(url, .data, "only_if_cached")
            #expect(hidden.view.errorReason == "only_if_cached_miss")
            let refused = try await daemon.fetch(url, .download, "prefer_cache")
            #expect(refused.view.errorReason == "pin_mismatch")

            // A policy trusts the response again if it would have trusted the server then.
            try await daemon.pin("site", host, [TrustFixture.foreignPin, leaf.keyPin])
            #expect(try await daemon.fetch(url, .data, "only_if_cached").bytes == first.bytes)
            #expect(try await daemon.fetch(url, .download, "only_if_cached").bytes == first.bytes)
            #expect(server.counts.requests.count == requests)
        }
    }

    @Test(.enabled(if: NginxFixture.isInstalled, "needs nginx-light"))
    func nginxRevalidatesCacheEntriesWithConditionalRequests() async throws {
        var options = NginxFixture.Options()
        options.directives = """
            location /fresh/ { expires 1h; }
            location /never/ { add_header Cache-Control no-store; }
            location /ask/ { add_header Cache-Control no-cache; }
            """
        let nginx = try await NginxFixture(options)
        let source = SourceVersion.tagged(3, length: 100_000)
        for name in ["fresh", "never", "ask"] {
            mkdir("\(nginx.root)/\(name)", 0o755)
            try nginx.publish(source, as: "\(name)/f")
        }
        func count(_ path: String) throws -> [Int] { try nginx.log.filter { $0.target == path }.map(\.status) }
        try await withDaemon { daemon in
            for kind in [CachedKind.download, .data, .download] {
                for path in ["/fresh/f", "/never/f", "/ask/f"] {
                    let fetched = try await daemon.fetch(nginx.url(path), kind, "protocol")
                    #expect(fetched.bytes == source.bytes, "\(path)")
                }
            }
            try await eventually("nginx has logged all") {
                try count("/ask/f").count == 3 && count("/never/f").count == 3
            }
            #expect(try count("/fresh/f") == [200])
            #expect(try count("/never/f") == [200, 200, 200])
            #expect(try count("/ask/f") == [200, 304, 304])
            try await daemon.expectTidyCache(2)
        }
    }

    @Test func aRefreshSharedByTasksGivesEachTaskTheRightBytes() async throws {
        let server = try await FaultServer()
        let served = server.serve("/f", .cached(1, "max-age=0"))
        try await withDaemon { daemon in
            _ = try await daemon.fetch(server.url("/f"), .download, "protocol")
            for isChanged in [false, true] {
                if isChanged { served.replace(with: .cached(2, "max-age=0")) }
                let gate = Gate()
                served.next([.stallHead(until: gate)])
                var ids: [Int64] = []
                for policy in ["protocol", "protocol", "reload", "revalidate", "prefer_cache", "reload"] {
                    ids.append(try await daemon.add(server.url("/f"), ["cache_policy": .string(policy)]))
                }
                try await daemon.complete(ids[4])
                gate.open()
                for (index, id) in ids.enumerated() {
                    let isOld = index == 4
                    try expectFile(
                        try await daemon.complete(id), is: isOld ? .cached(1, "max-age=0") : served.version)
                    #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
                }
            }
            try await daemon.expectTidyCache(1)
        }
    }
}
