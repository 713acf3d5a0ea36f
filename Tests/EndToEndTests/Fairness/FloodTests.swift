import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferTestSupport

/// Clients that ask for much do not keep the others waiting.
@Suite struct FloodTests {
    private static let clients = 4
    private static let requests = 16

    @Test func statusIsAnsweredDuringAFloodOfListCalls() async throws {
        try await withDaemon { daemon in
            let task: JSONValue = ["url": "http://127.0.0.1:9/", "paused": true]
            let tasks = JSONValue.array(Array(repeating: task, count: 500))
            _ = try await daemon.call("task.add", ["tasks": tasks])

            let answered = NIOLockedValueBox(0)
            let list = #"{"jsonrpc":"2.0","id":1,"method":"task.list","params":{"limit":1000}}"# + "\n"
            try await withThrowingTaskGroup(of: Void.self) { flood in
                for _ in 0..<Self.clients {
                    let client = try UnixSocket(connectedTo: daemon.socket)
                    try await client.send(String(repeating: list, count: Self.requests))
                    flood.addTask {
                        for _ in 0..<Self.requests {
                            let line = try #require(try await client.readLine())
                            #expect(line.contains(#""tasks":["#))
                            answered.withLockedValue { $0 += 1 }
                        }
                    }
                }
                try await eventually("the flood has begun") { answered.withLockedValue { $0 } > 0 }
                _ = try await daemon.call("daemon.status")
                // Every list was in before that call; most of them are still to be answered.
                #expect(answered.withLockedValue { $0 } < Self.clients * Self.requests / 2)
                try await flood.waitForAll()
            }
        }
    }
}
