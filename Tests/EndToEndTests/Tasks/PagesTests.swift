import StrictJSON
import Testing
import XferTestSupport

/// Lists that are longer than a message come in pages.
@Suite struct PagesTests {
    /// Tasks of 30 KB each, together longer than one answer may be. Returns their ids, the oldest first.
    private static func addLongTasks(_ count: Int, to daemon: DaemonFixture) async throws -> [Int64] {
        var ids: [Int64] = []
        for start in stride(from: 0, to: count, by: 100) {
            let tasks = (start..<min(start + 100, count)).map { number -> JSONValue in
                let url = "http://127.0.0.1:9/\(number)/" + String(repeating: "u", count: 15_000)
                let meta = JSONValue.string(String(repeating: "m", count: 15_000))
                return ["url": .string(url), "kind": "data", "paused": true, "meta": meta]
            }
            let added = try await daemon.call("task.add", ["tasks": .array(tasks)])
            ids += added["ids"]?.arrayValue?.compactMap(\.integerValue) ?? []
        }
        return ids
    }

    @Test func tasksThatAreTogetherLongerThanAMessageAreListedAndWaitedFor() async throws {
        try await withDaemon { daemon in
            let ids = try await Self.addLongTasks(200, to: daemon)
            try #require(ids.count == 200)
            let session = try daemon.session()
            var (found, cursor, pages): ([Int64], JSONValue?, Int) = ([], nil, 0)
            repeat {
                var params: JSONObject = ["limit": 1000, "order": "asc"]
                params["cursor"] = cursor
                let page = try await session.call("task.list", .object(params))
                #expect(page.text.utf8.count < 1_100_000)
                found += page["tasks"]?.arrayValue?.compactMap { $0["id"]?.integerValue } ?? []
                cursor = page["next_cursor"].flatMap { $0.isNull ? JSONValue?.none : $0 }
                pages += 1
            } while cursor != nil && pages < 50
            #expect(found == ids && pages > 4)

            // The log of their adds, as a client follows it.
            var (added, seq): ([Int64], Int64) = ([], 0)
            while true {
                let page = try await session.call("events.since", ["seq": .integer(seq), "types": ["task.added"]])
                added += page["events"]?.arrayValue?.compactMap { $0["task_id"]?.integerValue } ?? []
                guard let last = page["last_seq"]?.integerValue, last > seq else { break }
                seq = last
            }
            #expect(added == ids)

            // What an add answers is where its events begin.
            let late = try await session.call(
                "task.add", ["url": "http://127.0.0.1:9/late", "kind": "data", "paused": true])
            let begin = try #require(late["seq"]?.integerValue)
            let news = try await session.call("events.since", ["seq": .integer(begin), "types": ["task.added"]])
            #expect(news["events"]?.arrayValue?.map { $0["task_id"] } == [late["task"]?["id"]])
            _ = try await session.call("task.cancel", ["ids": [try #require(late["task"]?["id"])]])

            let wanted = JSONValue.array(ids.map(JSONValue.integer))
            let waited = try await session.call("task.wait", ["ids": wanted, "until": "paused"])
            let rows = waited["tasks"]?.arrayValue?.compactMap { $0["id"]?.integerValue } ?? []
            let omitted = waited["omitted"]?.arrayValue?.compactMap(\.integerValue) ?? []
            #expect(!rows.isEmpty && rows + omitted == ids)
            let none = try await session.call(
                "task.wait", ["filter": ["all": true], "timeout": 0, "fields": JSONValue.array([])])
            #expect(none["tasks"]?.arrayValue == [] && none["timed_out"] == true)
            #expect(none["open"]?.arrayValue?.compactMap(\.integerValue) == ids)

            let listed = try await daemon.ctl("list", "--json", "--limit", "1000")
            #expect(try JSONValue(parsing: listed.output.utf8)["tasks"]?.arrayValue?.count == 201)
        }
    }
}
