import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// NSURLRequestCachePolicy's six, with the requests counted at the server.
@Suite struct CachePolicyTests {
    /// What is kept when the task comes.
    enum Kept: CaseIterable {
        case nothing, fresh, stale, staleAndChanged
    }

    /// What is to be seen.
    struct Seen: Equatable, CustomStringConvertible {
        var requests: Int
        var conditional: Bool
        /// The version that the bytes are of; 0 is none.
        var version: Int
        var events: [String]

        var description: String { "\(requests) requests, conditional \(conditional), v\(version), \(events)" }
    }

    private static func expected(_ policy: String, _ kept: Kept) -> Seen {
        let newest = kept == .staleAndChanged ? 2 : 1
        func asked(_ events: [String] = [], conditional: Bool = false) -> Seen {
            Seen(requests: 1, conditional: conditional, version: newest, events: events)
        }
        let used = Seen(requests: 0, conditional: false, version: 1, events: ["cache.hit"])
        switch (policy, kept) {
        case ("only_if_cached", .nothing): return Seen(requests: 0, conditional: false, version: 0, events: [])
        case (_, .nothing), ("reload", _), ("reload_all", _): return asked()
        case ("prefer_cache", _), ("only_if_cached", _), ("protocol", .fresh): return used
        case ("protocol", .stale): return asked(["cache.hit", "task.not_modified"], conditional: true)
        case ("protocol", _): return asked(conditional: true)
        case (_, .staleAndChanged): return asked(["cache.hit", "task.refreshed"], conditional: true)
        default: return asked(["cache.hit", "task.not_modified"], conditional: true)
        }
    }

    @Test(arguments: CachedKind.allCases) func eachCachePolicyDecidesOnHitsStaleEntriesAndMisses(_ kind: CachedKind)
        async throws
    {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            for (index, kept) in Kept.allCases.enumerated() {
                for policy in CachePolicy.allCases.map(\.rawValue) {
                    let path = "/\(index)-\(policy)"
                    let control = kept == .fresh ? "max-age=3600" : "max-age=0"
                    let versions = [1, 2].map { SourceVersion.cached(UInt64(index * 10 + $0), control) }
                    let served = server.serve(path, versions[0])
                    if kept != .nothing {
                        let first = try await daemon.fetch(server.url(path), kind, nil, ["store": true])
                        #expect(first.bytes == versions[0].bytes && first.cacheEvents.isEmpty)
                    }
                    if kept == .staleAndChanged { served.replace(with: versions[1]) }
                    let before = server.requests(to: path).count
                    let fetched = try await daemon.fetch(server.url(path), kind, policy)
                    let requests = server.requests(to: path)[before...]
                    let seen = Seen(
                        requests: requests.count,
                        conditional: requests.contains { $0.header("If-None-Match") != nil },
                        version: 1 + (versions.firstIndex { $0.bytes == fetched.bytes } ?? -1),
                        events: fetched.cacheEvents)
                    #expect(seen == Self.expected(policy, kept), "\(kept), \(policy)")
                    #expect(fetched.terminalCount == 1)
                    if kept == .nothing, policy == "only_if_cached" {
                        #expect(fetched.view.errorReason == "only_if_cached_miss")
                    }
                    if policy == "reload_all" { #expect(requests.first?.header("Cache-Control") == "no-cache") }
                }
            }
            try await daemon.expectTidyCache()
        }
    }

    /// What a task fetched with a policy that uses the cache is kept, and replaced by what is newer.
    @Test(arguments: CachedKind.allCases) func everyPolicyThatUsesTheCacheAlsoFillsIt(_ kind: CachedKind) async throws {
        let server = try await FaultServer()
        let served = server.serve("/f", .cached(1, "max-age=0"))
        try await withDaemon { daemon in
            for version in UInt64(1)...3 {
                served.replace(with: .cached(version, "max-age=0"))
                let fetched = try await daemon.fetch(server.url("/f"), kind, "protocol")
                #expect(fetched.bytes == SourceVersion.cached(version, "").bytes)
            }
            #expect(try await daemon.fetch(server.url("/f"), kind, "only_if_cached").bytes == served.version.bytes)
            try await daemon.expectTidyCache(1)
            // Unless told otherwise nothing is kept.
            _ = try await daemon.fetch(server.url("/g"), kind)
            server.serve("/g", .cached(9, "max-age=60"))
            _ = try await daemon.fetch(server.url("/g"), kind, nil, ["retry_failed": true])
            _ = try await daemon.fetch(server.url("/g"), kind, "protocol", ["store": false])
            try await daemon.expectTidyCache(1)
        }
    }

    /// SDWebImage's RefreshCached: what is kept can be read while the server is asked.
    @Test func aCachedResponseIsReadableAtOnceAndThenRefreshed() async throws {
        let server = try await FaultServer()
        let served = server.serve("/f", .cached(1, "max-age=60"))
        try await withDaemon { daemon in
            for length in [Int64(70_000), 700_000] {
                let (old, new) = (
                    SourceVersion.cached(1, length: length, "max-age=60"),
                    SourceVersion.cached(2, length: length, "max-age=60")
                )
                served.replace(with: old)
                _ = try await daemon.fetch(server.url("/f"), .data, "reload", ["store": true])
                served.replace(with: new)
                let gate = Gate()
                served.next([.stallHead(until: gate)])
                let id = try await daemon.add(server.url("/f"), ["kind": "data", "cache_policy": "revalidate"])
                try await eventually("the hit is logged") { try await daemon.eventTypes(of: id).contains("cache.hit") }
                #expect(try await daemon.view(id).state == "running")
                #expect(try await daemon.result(of: id) == old.bytes)
                gate.open()
                try await daemon.complete(id)
                #expect(try await daemon.result(of: id) == new.bytes)
                let types = try await daemon.eventTypes(of: id)
                #expect(
                    types.filter { $0.hasPrefix("cache") || $0 == "task.refreshed" } == ["cache.hit", "task.refreshed"])
                #expect(types.last == "task.completed" || types.last == "queue.idle")
            }
        }
    }

    /// 304: one terminal event, nothing left running.
    @Test(arguments: CachedKind.allCases) func aRevalidatedEntryCompletesItsTaskOnce(_ kind: CachedKind) async throws {
        let server = try await FaultServer()
        let source = SourceVersion.cached(1, "no-cache")
        server.serve("/f", source)
        try await withDaemon { daemon in
            _ = try await daemon.fetch(server.url("/f"), kind, "protocol")
            for _ in 0..<5 {
                let again = try await daemon.fetch(server.url("/f"), kind, "protocol")
                #expect(again.bytes == source.bytes && again.terminalCount == 1)
                #expect(again.cacheEvents == ["cache.hit", "task.not_modified"])
                #expect(again.view.json["http_status"] == 200)
            }
            #expect(server.requests.map(\.status) == [200] + Array(repeating: 304, count: 5))
            let stats = try await daemon.call("queue.stats")
            #expect(stats["counts"]?["running"] == 0 && stats["counts"]?["queued"] == 0)
            try await daemon.expectTidyCache(1)
            #expect(try FileTree.entries(below: "\(daemon.stateDirectory)/spool") == [])
            let parts = try FileTree.entries(below: daemon.downloads).filter { $0.hasSuffix(".part") }
            #expect(parts == [])
        }
    }

    /// A hit passes every check a transfer passes.
    @Test func aHitIsJudgedAsATransferIs() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.cached(
            1, "max-age=60", HeaderField(name: "Content-Type", value: "text/plain"),
            HeaderField(name: "Content-Disposition", value: "attachment; filename=\"named.txt\""))
        server.serve("/f", source)
        server.on("/json") { _ in
            Reply(
                200,
                headers: [
                    HeaderField(name: "Content-Type", value: "application/json"),
                    HeaderField(name: "Cache-Control", value: "max-age=60"),
                ], text: "{\"a\": [1]}")
        }
        try await withDaemon { daemon in
            let url = server.url("/f")
            _ = try await daemon.fetch(url, .download, "protocol")
            let wrong = Checksum.Algorithm.sha256.rawValue + "=" + String(repeating: "00", count: 32)
            try await daemon.fails(
                try await daemon.add(url, ["cache_policy": "only_if_cached", "checksum": .string(wrong)]),
                "checksum_mismatch")
            try await daemon.fails(
                try await daemon.add(url, ["cache_policy": "only_if_cached", "accept_types": ["json"]]),
                "unacceptable_type")
            try await daemon.fails(
                try await daemon.add(url, ["cache_policy": "only_if_cached", "accept_status": "204"]), "http_status")
            let right = try await daemon.fetch(
                url, .download, "only_if_cached", ["checksum": .string(source.checksum().description), "mode": "0600"])
            #expect(right.bytes == source.bytes)
            #expect(right.view.finalPath?.hasSuffix("named (1).txt") == true, "\(right.view.json.text)")
            let skipped = try await daemon.fetch(url, .download, "only_if_cached", ["on_conflict": "skip"])
            #expect(skipped.view.json["skipped"] == true)

            _ = try await daemon.fetch(server.url("/json"), .data, "protocol")
            let parsed = try await daemon.fetch(server.url("/json"), .data, "only_if_cached", ["parse": ["json"]])
            #expect(try await daemon.call("task.result", ["id": .integer(parsed.id)])["object"] == ["a": [1]])
            #expect(server.requests.count == 2)
        }
    }

    @Test func anUnsafeRequestInvalidatesTheCachedResponse() async throws {
        let server = try await FaultServer()
        server.serve("/f", .cached(1, "max-age=600"))
        server.serve("/g", .cached(2, "max-age=600"))
        server.on("/post") { request in
            request.method == "GET"
                ? SourceVersion.cached(3, "max-age=600").honestReply(to: request)
                : Reply(201, headers: [HeaderField(name: "Location", value: "/f")], text: "")
        }
        server.on("/refused") { request in
            request.method == "GET"
                ? SourceVersion.cached(4, "max-age=600").honestReply(to: request) : Reply(403, text: "no")
        }
        try await withDaemon { daemon in
            for path in ["/f", "/g", "/post", "/refused"] {
                _ = try await daemon.fetch(server.url(path), .data, "protocol")
            }
            try await daemon.complete(
                try await daemon.add(server.url("/post"), ["kind": "data", "body": ["raw": "x"]]))
            try await daemon.fails(
                try await daemon.add(
                    server.url("/refused"), ["kind": "data", "body": ["raw": "x"], "max_retries": 0]),
                "http_status")
            for (path, isKept) in [("/f", false), ("/g", true), ("/post", false), ("/refused", true)] {
                let again = try await daemon.fetch(server.url(path), .data, "only_if_cached")
                #expect((again.view.state == "completed") == isKept, "\(path)")
            }
        }
    }

    @Test func varyFieldsAndKeyRulesSeparateCachedResponses() async throws {
        let server = try await FaultServer()
        server.on("/v") { request in
            Reply(
                200,
                headers: [
                    HeaderField(name: "Cache-Control", value: "max-age=60"), HeaderField(name: "Vary", value: "Accept"),
                ], text: request.header("Accept") ?? "none")
        }
        server.onAnyOther { request in
            Reply(200, headers: [HeaderField(name: "Cache-Control", value: "max-age=60")], text: request.target)
        }
        try await withDaemon { daemon in
            for accept in ["a/b", "c/d", "a/b", "c/d"] {
                let fetched = try await daemon.fetch(
                    server.url("/v"), .data, "protocol", ["headers": ["Accept": .string(accept)]])
                #expect(String(decoding: fetched.bytes, as: UTF8.self) == accept)
            }
            #expect(server.requests(to: "/v").count == 2)

            // A profile's rule, a task's own, and none.
            _ = try await daemon.call(
                "profile.set",
                ["profile": ["name": "api", "cache_policy": "protocol", "cache_key": ["ignore_params": ["token"]]]])
            for token in ["1", "2", "3"] {
                let url = server.url("/k?a=1&token=\(token)")
                let fetched = try await daemon.fetch(url, .data, nil, ["profile": "api"])
                #expect(String(decoding: fetched.bytes, as: UTF8.self) == "/k?a=1&token=1")
            }
            let own = try await daemon.fetch(
                server.url("/k?a=1&token=4"), .data, nil, ["profile": "api", "cache_key": nil])
            #expect(String(decoding: own.bytes, as: UTF8.self) == "/k?a=1&token=4")
            for path in ["/x", "/y"] {
                let fetched = try await daemon.fetch(server.url(path), .data, "protocol", ["cache_key": "mine"])
                #expect(String(decoding: fetched.bytes, as: UTF8.self) == "/x")
            }
            let task = try await daemon.task(own.id)
            #expect(task["cache_policy"] == "protocol" && task["store"] == true && task["cache_key"] == nil)
        }
    }

    @Test func onlyPlainGETTasksMayUseTheCache() async throws {
        try await withDaemon { daemon in
            for fields: JSONObject in [
                ["cache_policy": "protocol", "method": "HEAD"], ["store": true, "body": ["raw": "x"]],
                ["cache_policy": "revalidate", "method": "DELETE"],
            ] {
                var params = fields
                params["kind"] = "data"
                await #expect(throws: (any Error).self) { try await daemon.add("http://127.0.0.1:1/", params) }
            }
        }
    }
}
