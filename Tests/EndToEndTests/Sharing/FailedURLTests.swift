import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// SDWebImage's failedURLs with the real programs.
@Suite struct FailedURLTests {
    /// Row "failedURLs and its exclusions; RetryFailed" of the SDWebImage part.
    @Test func aURLFoundMissingIsNotRequestedAgainUntilARetryIsDemanded() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let url = server.url("/gone.bin?token=hunter2")
            try await daemon.fails(try await daemon.add(url), "http_status")
            // It is in the list as soon as the failure is published, and after a crash.
            for _ in 0..<2 {
                let blocked = try await daemon.fails(try await daemon.add(url), "blocked_url")
                #expect(blocked.json["error"]?["http_status"] == 404)
                #expect(!blocked.errorMessage.contains("hunter2"))
                #expect(server.requests.count == 1)
                await daemon.kill9()
                try await daemon.start()
            }
            let page = try await daemon.call("failed_url.list")
            let entry = try #require(page["entries"]?.arrayValue?.first)
            #expect(entry["url"]?.stringValue == server.url("/gone.bin?token=***"))
            #expect(!(try await daemon.ctl("failed-url").output.contains("hunter2")))

            // The command line insists, a retry does, and retry_failed.
            let insisted = try await daemon.ctl("add", "--wait", url)
            #expect(insisted.exit == .code(1) && insisted.output.contains("http_status"), "\(insisted)")
            #expect(server.requests.count == 2)
            let meek = try await daemon.ctl("add", "--wait", "--no-retry-failed", url)
            #expect(meek.exit == .code(1) && meek.output.contains("blocked_url"), "\(meek)")
            #expect(server.requests.count == 2)

            server.serve("/gone.bin", .tagged(7, length: 50_000))
            try await daemon.complete(try await daemon.add(url, ["retry_failed": true]))
            #expect(try await daemon.call("failed_url.list")["entries"] == [])
            try await daemon.complete(try await daemon.add(url))
        }
    }

    @Test func failedURLEntriesCanBeRemovedAndTheListTurnedOff() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            for path in ["/a", "/b", "/c"] {
                try await daemon.fails(try await daemon.add(server.url(path)), "http_status")
            }
            let list = try await daemon.ctl("failed-url")
            #expect(list.output.split(separator: "\n").count == 4, "\(list)")
            #expect(try await daemon.ctl("failed-url", "remove", server.url("/a")).output == "1 removed\n")
            try await daemon.fails(try await daemon.add(server.url("/a")), "http_status")
            let refused = try await daemon.ctl("failed-url", "remove", "4711")
            #expect(refused.exit == .code(3) && refused.errors.contains("no entry 4711"), "\(refused)")
            #expect(try await daemon.ctl("failed-url", "clear").output == "3 removed\n")

            try await daemon.fails(try await daemon.add(server.url("/b")), "http_status")
            try daemon.configure(["sharing": ["negative_ttl": "0"]])
            daemon.reload()
            try await eventually("the list is off") {
                try await daemon.call("failed_url.list")["entries"] == []
            }
            let count = server.requests.count
            try await daemon.fails(try await daemon.add(server.url("/b")), "http_status")
            #expect(server.requests.count == count + 1)
        }
    }

    /// Wherever the daemon is killed, a failure is published if and only if it is listed, and every task ends once.
    @Test func everyTaskEndsOnceAndIsListedOnceIfKilledAmongFailures() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            var ids: [Int64] = []
            for round in 0..<6 {
                let tasks = (0..<40).map { JSONValue.object(["url": .string(server.url("/\(round)-\($0)"))]) }
                let added = try await daemon.call("task.add", ["tasks": .array(tasks)])
                let new = added["ids"]?.arrayValue?.compactMap(\.integerValue) ?? []
                ids += new
                let enough = round * 40 + 5 + round * 3
                try await eventually("some have failed") {
                    try await daemon.call("queue.stats")["counts"]?["failed"]?.integerValue ?? 0 >= enough
                }
                await daemon.kill9()
                try await daemon.start()
                let failed = try await daemon.events(types: "task.failed").compactMap { $0["task_id"]?.integerValue }
                var params: JSONObject = ["limit": 1000, "order": "asc"]
                params["cursor"] = nil
                let listed = try await daemon.call("failed_url.list", .object(params))["entries"]?.arrayValue?
                    .compactMap { $0["task_id"]?.integerValue }
                // More may have failed between the two looks.
                #expect(Set(failed).isSubset(of: Set(listed ?? [])))
                for id in new { try await daemon.fails(id, "http_status") }
            }
            #expect(try await daemon.call("queue.stats")["counts"]?["failed"]?.integerValue == Int64(ids.count))
            var ends: [Int64: Int] = [:]
            for event in try await daemon.events() where event["terminal"] == true {
                if let id = event["task_id"]?.integerValue { ends[id, default: 0] += 1 }
            }
            #expect(ends == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
            let listed = try await daemon.call("failed_url.list", ["limit": 1000])["entries"]?.arrayValue ?? []
            #expect(Set(listed.compactMap { $0["task_id"]?.integerValue }) == Set(ids) && listed.count == ids.count)
        }
    }
}
