import StrictJSON
import Testing
import XferTestSupport

/// Identifiers are given by the database, inside the insertion: AFNetworking #2093 was tasks made at the same time that
/// got the same one.
@Suite struct ManyClientsTests {
    @Test func tasksAddedByManyClientsHaveUniqueIDs() async throws {
        try await withDaemon { daemon in
            let ids = try await Self.add(100, byEachOf: 64, to: daemon)
            #expect(ids.count == 6400 && Set(ids).count == 6400)

            // The newest go, and with them whatever could remember the last identifier but the database's own count.
            let newest = ids.sorted().suffix(100)
            for verb in ["task.cancel", "task.remove"] {
                _ = try await daemon.call(verb, ["ids": .array(newest.map(JSONValue.integer))])
            }
            await daemon.kill9()
            try await daemon.start()
            let stats = try await daemon.call("queue.stats")
            #expect(stats["counts"]?["paused"]?.integerValue == 6300)
            let later = try await Self.add(10, byEachOf: 8, to: daemon)
            #expect(Set(later).count == 80)
            #expect(try #require(later.min()) > #require(ids.max()))
        }
    }

    private static func add(_ count: Int, byEachOf clients: Int, to daemon: DaemonFixture) async throws -> [Int64] {
        try await withThrowingTaskGroup(of: [Int64].self) { group in
            for client in 0..<clients {
                group.addTask {
                    // Without a transcript: thousands of messages of one kind.
                    let session = try RPCSession(socket: daemon.socket)
                    var ids: [Int64] = []
                    for index in 0..<count {
                        let url = JSONValue.string("http://127.0.0.1:9/\(client)/\(index)")
                        let added = try await session.call("task.add", ["url": url, "paused": true])
                        ids.append(try #require(added["task"]?["id"]?.integerValue))
                    }
                    return ids
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
