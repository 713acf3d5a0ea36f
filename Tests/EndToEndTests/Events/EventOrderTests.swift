import StrictJSON
import Testing
import XferTestSupport

/// What the serial delegate queue promised, and what keeps the events of several clients apart.
@Suite struct EventOrderTests {
    /// Eight clients add, pause, resume and cancel tasks on a server that fails now and then.
    @Test func eventNumbersUnderLoadHaveNoGapAndEachTaskKeepsItsOrder() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(160, length: 20_000)
        for client in 0..<8 {
            server.serve("/\(client)", source, faults: (0..<10).map { $0 % 3 == 0 ? [.drop(after: 5000)] : [] })
        }
        try await withDaemon { daemon in
            let watcher = try daemon.session()
            let subscribed = try await watcher.call("events.subscribe", ["since": 0])
            #expect(subscribed["gap"] == nil, "\(subscribed.text)")
            let ids = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for client in 0..<8 {
                    group.addTask {
                        let session = try daemon.session()
                        var ids: [Int64] = []
                        for index in 0..<25 {
                            let url = JSONValue.string(server.url("/\(client)"))
                            let added = try await session.call("task.add", ["url": url, "group": .string("\(client)")])
                            let id = try #require(added["task"]?["id"]?.integerValue)
                            let selected: JSONValue = ["ids": [.integer(id)]]
                            if index % 5 == 1 { _ = try await session.call("task.pause", selected) }
                            if index % 5 == 1 { _ = try await session.call("task.resume", selected) }
                            if index % 5 == 2 { _ = try await session.call("task.cancel", selected) }
                            ids.append(id)
                        }
                        return ids
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            for id in ids { _ = try await daemon.finish(id) }

            let events = try await daemon.events()
            let numbers = events.compactMap { $0["seq"]?.integerValue }
            let first = try #require(numbers.first)
            #expect(numbers == Array(first..<first + Int64(events.count)))
            for id in ids {
                let types = events.filter { $0["task_id"]?.integerValue == id }.compactMap { $0["type"]?.stringValue }
                #expect(types.first == "task.added")
                #expect(types.filter(Self.terminal.contains).count == 1, "\(types)")
                #expect(Self.terminal.contains(types.last ?? ""), "\(types)")
                var wasStarted = false
                for type in types {
                    if ["task.response", "task.completed"].contains(type) { #expect(wasStarted, "\(types)") }
                    wasStarted = wasStarted || type == "task.started"
                }
            }
            // The subscriber received the same events in the same order.
            try await eventually("all were notified") {
                watcher.events.last { $0["seq"] != nil }?["seq"] == events.last?["seq"]
            }
            #expect(watcher.events.compactMap { $0["seq"]?.integerValue } == numbers)
        }
    }

    private static let terminal: Set<String> = ["task.completed", "task.failed", "task.cancelled"]

    @Test(.enabled(if: Guest.isPossible, "needs root and setpriv"))
    func subscribersNeverReceiveEventsOfAnotherOwner() async throws {
        try await withGuests(2) { daemon, guests in
            let own = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
            var ids: [Int64: Set<Int64>] = [:]
            for _ in 0..<3 {
                for guest in guests {
                    let id = try await guest.add([
                        "url": "http://127.0.0.1:9/", "dir": .string(guest.root), "paused": true,
                    ])
                    ids[guest.uid, default: []].insert(id)
                }
            }
            for guest in guests {
                let page = try #require(try await guest.call("events.since", ["seq": 0]).result)
                let events = page["events"]?.arrayValue ?? []
                #expect(Set(events.compactMap { $0["task_id"]?.integerValue }) == ids[guest.uid])
                #expect(events.allSatisfy { $0["task_id"] != nil }, "the service's own are for operators")
                // Asked for by name, another's are not there either.
                let others = ids.filter { $0.key != guest.uid }.values.reduce(into: Set([own])) { $0.formUnion($1) }
                let asked = JSONValue.array(others.map(JSONValue.integer))
                let nothing = try #require(
                    try await guest.call("events.since", ["seq": 0, "task_ids": asked]).result)
                #expect(nothing["events"] == [])
            }
            let all = try await daemon.events(types: "task.added").compactMap { $0["task_id"]?.integerValue }
            #expect(Set(all) == ids.values.reduce(into: Set([own])) { $0.formUnion($1) })
        }
    }
}
