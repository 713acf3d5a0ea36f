import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `cache.put` and `xferctl cache put`: tasks use the content without a request, and only those of its user.
@Suite struct CachePutTests {
    private static let content = Array("hello\n".utf8)
    private static let digest = "sha-256=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

    @Test(arguments: CachedKind.allCases, ["protocol", "prefer_cache", "only_if_cached"])
    func aTaskTakesAPutFileWithoutARequest(_ kind: CachedKind, _ policy: String) async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            try FileTree.write(Self.content, to: "\(daemon.downloads)/motd")
            let put = try await daemon.ctl(
                "cache", "put", "--checksum", Self.digest, "--max-age", "1h", "--content-type", "text/plain",
                server.url("/f"), "motd")
            #expect(put.output.hasPrefix("stored as entry 1 (6 B), fresh until "), "\(put)")
            #expect(put.output.contains("add --cache-policy prefer_cache") && put.errors.isEmpty, "\(put)")
            let fetched = try await daemon.fetch(server.url("/f"), kind, policy, ["accept_types": ["text/plain"]])
            #expect(fetched.bytes == Self.content && fetched.cacheEvents == ["cache.hit"])
            #expect(server.requests.isEmpty)
            try await daemon.expectTidyCache(1)
        }
    }

    @Test func theSumOfAListCountsFilesFromTheCacheApart() async throws {
        let server = try await FaultServer()
        server.serve("/b", SourceVersion.tagged(88, length: 3000))
        try await withDaemon { daemon in
            let put = try await daemon.ctl("cache", "put", server.url("/a"), "-", input: "hello\n")
            #expect(put.isSuccess, "\(put)")
            let added = try await daemon.ctl(
                "add", "--wait", "--cache-policy", "prefer_cache", "-d", daemon.downloads, "-i", "-",
                input: "\(server.url("/a"))\n\(server.url("/b"))\n")
            #expect(added.isSuccess && added.output.contains("2 tasks: 1 downloaded"), "\(added)")
            #expect(added.output.contains("1 from the cache"), "\(added)")
        }
    }

    @Test func standardInputIsStored() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let put = try await daemon.ctl("cache", "put", server.url("/f"), "-", input: "hello\n")
            #expect(put.isSuccess, "\(put)")
            #expect(try await daemon.fetch(server.url("/f"), .download, "only_if_cached").bytes == Self.content)
        }
    }

    @Test func putContentThatIsNoLongerFreshIsFetched() async throws {
        let server = try await FaultServer()
        let served = SourceVersion.cached(1, "max-age=600")
        server.serve("/f", served)
        try await withDaemon { daemon in
            let put = try await daemon.ctl("cache", "put", "--max-age", "0", server.url("/f"), "-", input: "hello\n")
            #expect(put.output.hasPrefix("stored as entry 1 (6 B), stale\n"), "\(put)")
            #expect(try await daemon.fetch(server.url("/f"), .data, "protocol").bytes == served.bytes)
            #expect(server.requests.count == 1)
            try await daemon.expectTidyCache(1)
        }
    }

    @Test func contentWithAnotherDigestIsNotStored() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let put = try await daemon.ctl(
                "cache", "put", "--checksum", Self.digest, server.url("/f"), "-", input: "hullo\n")
            #expect(!put.isSuccess && put.errors.contains("expected \(Self.digest)"), "\(put)")
            #expect(put.errors.contains("the content has sha-256="), "\(put)")
            try await daemon.expectTidyCache(0)
        }
    }

    @Test func contentForAHostWithATrustPolicyIsRefused() async throws {
        try await withDaemon { daemon in
            try await daemon.pin("site", "pinned.test", [TrustFixture.foreignPin])
            let refusal = try await daemon.refusal(
                "cache.put", ["url": "https://pinned.test/f", "base64": "b2s="])
            #expect(refusal?.code == -32004 && refusal?.path == "url", "\(String(describing: refusal))")
            try await daemon.expectTidyCache(0)
        }
    }

    @Test(.enabled(if: Guest.isPossible)) func aGuestPutsForItselfAndFromItsRootsOnly() async throws {
        let server = try await FaultServer()
        try await withGuest { daemon, guest in
            try FileTree.write(Self.content, to: "\(guest.root)/motd")
            let put = try await guest(["cache", "put", server.url("/f"), "motd"])
            #expect(put.isSuccess, "\(put)")
            let own = try await guest([
                "add", "--wait", "-d", ".", "--cache-policy", "only_if_cached", server.url("/f"),
            ])
            #expect(own.isSuccess, "\(own)")
            #expect(try FileTree.read("\(guest.root)/f") == Self.content)
            let others = try await daemon.fetch(server.url("/f"), .data, "only_if_cached")
            #expect(others.view.errorReason == "only_if_cached_miss")

            try FileTree.write(Self.content, to: "\(daemon.downloads)/motd", mode: 0o600)
            let outside = try await guest(["cache", "put", server.url("/g"), "\(daemon.downloads)/motd"])
            #expect(!outside.isSuccess && outside.errors.contains("file"), "\(outside)")
            #expect(try await guest.call("cache.stats").result?["entries"] == 1)
        }
    }

    /// A token that writes beneath the directory for downloads only must not decide what other tasks write elsewhere.
    @Test(.enabled(if: Guest.curl != nil, "needs curl")) func aTokenNeedsTheScopeOperate() async throws {
        let remote = try await RemoteDaemon()
        let params: JSONValue = ["url": "http://site.test/f", "base64": "b2s="]
        for scope in ["read", "add", "own"] {
            let answer = try await remote.call("cache.put", params, try await remote.token(scope, scope))
            #expect(answer["error"]?["code"] == -32003, "\(scope): \(answer.text)")
        }
        let answer = try await remote.call("cache.put", params, try await remote.token("all", "operate"))
        #expect(answer["result"]?["entry"]?["size"] == 2, "\(answer.text)")
        try await remote.daemon.stop()
    }

    @Test func aKilledPutLeavesTheEarlierOrTheNewContentAndNoFiles() async throws {
        let server = try await FaultServer()
        let url = server.url("/f")
        let contents = [UInt64(0), 1].map { SourceVersion.tagged($0, length: 900_000).bytes }
        var random = SplitMix64(seed: 11)
        try await withDaemon { daemon in
            for (number, bytes) in contents.enumerated() {
                try FileTree.write(bytes, to: "\(daemon.downloads)/\(number)")
            }
            @Sendable func put(_ number: Int) async throws {
                let file = "\(daemon.downloads)/\(number)"
                _ = try await daemon.call("cache.put", ["url": .string(url), "file": .string(file)])
            }
            try await put(0)
            for _ in 0..<Campaign.rounds(12) {
                let putting = Task { for turn in 0..<100_000 { try await put(turn % 2) } }
                try await Campaign.elapse(.milliseconds(Int.random(in: 0..<200, using: &random)))
                await daemon.kill9()
                _ = await putting.result
                try await daemon.start()
                try await daemon.expectTidyCache(1)
                let kept = try await daemon.fetch(url, .data, "only_if_cached")
                #expect(contents.contains(kept.bytes))
            }
            #expect(server.requests.isEmpty)
        }
    }
}
