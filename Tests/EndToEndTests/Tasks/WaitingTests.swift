import StrictJSON
import Testing
import XferTestSupport

/// What the completion group was: an answer when the last of several tasks has ended.
@Suite struct WaitingTests {
    @Test func waitIsAnsweredAfterTheLastTaskEnds() async throws {
        let server = try await FaultServer()
        let gates = (0..<3).map { _ in Gate() }
        for (index, gate) in gates.enumerated() {
            server.serve("/\(index)", .tagged(UInt64(140 + index), length: 1000))
                .always(.stallHead(until: gate))
        }
        try await withDaemon { daemon in
            var ids: [Int64] = []
            for index in gates.indices { ids.append(try await daemon.add(server.url("/\(index)"))) }
            let session = try daemon.session()
            let params: JSONValue = ["ids": .array(ids.map(JSONValue.integer))]
            async let answer = session.call("task.wait", params)
            // One after the other: were the answer given earlier, it would show a task that still runs.
            for (id, gate) in zip(ids, gates) {
                #expect(try await daemon.view(id).isTerminal == false)
                gate.open()
                try await daemon.complete(id)
            }
            let tasks = try await answer["tasks"]?.arrayValue ?? []
            #expect(tasks.map { $0["id"]?.integerValue } == ids)
            #expect(tasks.map { $0["state"]?.stringValue } == ["completed", "completed", "completed"])
        }
        for gate in gates { gate.open() }
    }
}
