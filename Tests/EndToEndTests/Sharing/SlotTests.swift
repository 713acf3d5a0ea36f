import StrictJSON
import Testing
import XferTestSupport

/// UIView+WebCacheOperation with the real programs.
@Suite struct SlotTests {
    /// Row "UIView+WebCacheOperation: set cancels the previous, remove does not" of the SDWebImage part.
    @Test func settingASlotCancelsItsTaskAndRemovingTheSlotDoesNot() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/old", .tagged(1, length: 300_000)).always(.stall(at: 100_000, until: gate))
        server.serve("/new", .tagged(2, length: 50_000))
        try await withDaemon { daemon in
            let session = try daemon.session()
            _ = try await session.call("events.subscribe", [:])
            let old = try await daemon.add(server.url("/old"), ["slot": "avatar"])
            try await daemon.waitForBytes(1, of: old)
            let shown = try await daemon.ctl("slot", "get", "avatar")
            #expect(shown.output.contains("id                 \(old)\n"), "\(shown)")

            let added = try await daemon.ctl("add", "--wait", "--slot", "avatar", "-d", ".", server.url("/new"))
            #expect(added.exit == .code(0), "\(added)")
            #expect(try await daemon.view(old).state == "cancelled")
            let event = try await session.event("superseded") { $0["type"] == "task.superseded" }
            #expect(event["task_id"] == .integer(old) && event["state"] == "cancelled" && event["terminal"] == true)
            #expect(try await daemon.events(of: old).filter { $0["terminal"] == true }.count == 1)
            try await daemon.expectDownloads(["new"])
            #expect(try await daemon.call("slot.get", ["slot": "avatar"])["task"] == .null)

            let kept = try await daemon.add(server.url("/old"), ["slot": "avatar", "output": "kept"])
            #expect(try await daemon.ctl("slot", "detach", "avatar").output == "detached: #\(kept)\n")
            let third = try await daemon.add(server.url("/new"), ["slot": "avatar", "paused": true])
            #expect(try await daemon.ctl("slot", "cancel", "avatar").output == "cancelled: #\(third)\n")
            #expect(try await daemon.eventTypes(of: third).last == "task.cancelled")
            gate.open()
            try await daemon.complete(kept)
        }
    }

    @Test func aSlotNameThatIsTooLongIsRefused() async throws {
        try await withDaemon { daemon in
            for (size, path) in [(129, "slot"), (1 << 20, "slot")] {
                let name = JSONValue.string(String(repeating: "s", count: size))
                for (method, params) in [
                    ("task.add", ["url": "http://127.0.0.1:9/x", "slot": name]), ("slot.get", ["slot": name]),
                ] as [(String, JSONValue)] {
                    let refusal = await #expect(throws: RPCRefusal.self) { try await daemon.call(method, params) }
                    #expect(
                        refusal?.code == -32602 && refusal?.path == path, "\(refusal?.description.prefix(200) ?? "")")
                }
            }
            // A message may not have ten megabytes: the daemon says so, and goes on serving.
            let socket = try UnixSocket(connectedTo: daemon.socket)
            let name = String(repeating: "s", count: 10 << 20)
            let line = #"{"jsonrpc":"2.0","id":1,"method":"slot.get","params":{"slot":"\#(name)"}}"# + "\n"
            try? await socket.send(line)
            let answer = try JSONValue(parsing: Array(try #require(try await socket.readLine()).utf8))
            #expect(answer["error"]?["code"] == -32600, "\(answer.text.prefix(300))")
            #expect(try await daemon.call("queue.stats")["counts"]?["queued"] == 0)
        }
    }

    /// Killed between any two steps: each task that left the slot ended once, and the last answered task is in it.
    @Test func everyTaskEndsOnceIfKilledWhileSlotsChangeHands() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        // A new task continues its predecessor's bytes. The server sends too little at a time for a task to complete.
        server.serve("/s", .tagged(3, length: 200_000)).always(.stall(at: 1000, until: gate))
        try await withDaemon { daemon in
            var answered: [Int64] = []
            for round in 0..<12 {
                let session = try daemon.session()
                for index in 0..<(1 + round % 4) {
                    let result = try await session.call(
                        "task.add",
                        ["url": .string(server.url("/s")), "slot": "s", "output": .string("f\(round)-\(index)")])
                    answered.append(try #require(result["task"]?["id"]?.integerValue))
                }
                // One more, which the kill may leave unanswered.
                let last = Task {
                    try? await session.call("task.add", ["url": .string(server.url("/s")), "slot": "s"])
                }
                await daemon.kill9()
                _ = await last.value
                try await daemon.start()
            }
            let holder = try await daemon.call("slot.get", ["slot": "s"])["task"]
            let winner = try #require(holder?["id"]?.integerValue)
            #expect(winner >= answered.last ?? 0)
            gate.open()
            try await daemon.complete(winner)
            let tasks = try await daemon.call("task.list", ["filter": ["slot": "s"], "limit": 1000])["tasks"]?
                .arrayValue
            let ids = (tasks ?? []).compactMap { $0["id"]?.integerValue }
            #expect(Set(answered).isSubset(of: Set(ids)))
            for id in ids {
                let terminal = try await daemon.events(of: id).filter { $0["terminal"] == true }
                #expect(terminal.count == 1, "\(terminal)")
                #expect(terminal.first?["type"] == (id == winner ? "task.completed" : "task.superseded"))
            }
            try await eventually("only the winner's bytes are left") { try daemon.downloaded.count == 1 }
        }
    }
}
