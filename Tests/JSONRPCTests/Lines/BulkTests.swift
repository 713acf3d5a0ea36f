import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

/// `hold` is the test service's bulk method: it waits until the gate is opened.
@Suite struct BulkTests {
    private let holds = (0..<40).map { #"{"jsonrpc":"2.0","method":"hold","id":\#($0)}"# + "\n" }.joined()

    @Test func aSmallRequestIsAnsweredWhileManyBulkOnesWait() async throws {
        let service = TestService(bulk: ["hold"])
        try await withServer(service: service) { fixture in
            let flooding = try (0..<5).map { _ in try fixture.connect() }
            for client in flooding { try await client.send(holds) }
            await service.gate.arrived(2)
            let small = try fixture.connect()
            #expect(try await small.call("echo", [1])["result"] == [1])
            // Nothing beyond the two has begun, and nothing was answered but the small one.
            #expect(service.begun.filter { $0 == "hold" }.count == 2)
            #expect(service.released == 0)
            service.gate.open()
            for client in flooding {
                for _ in 0..<40 { #expect(try await client.message()["result"] == "held") }
            }
            #expect(service.maxRunning <= 3)
        }
    }

    @Test func waitingBulkRequestsOfADisconnectedClientAreNotBegun() async throws {
        let service = TestService(bulk: ["hold"])
        try await withServer(service: service) { fixture in
            let flooding = try fixture.connect()
            try await flooding.send(holds)
            await service.gate.arrived(2)
            flooding.disconnect()
            try await eventually("those that had begun are cancelled") { service.cancelled == 2 }
            let other = try fixture.connect()
            service.gate.open()
            #expect(try await other.call("hold")["result"] == "held")
            #expect(service.begun == ["hold", "hold", "hold"])
        }
    }

    @Test func aClientThatDoesNotReadGetsNoFurtherTurn() async throws {
        let service = TestService(bulk: ["big"])
        try await withServer(.with { $0.waitingBytes = 100_000 }, service: service) { fixture in
            let lazy = try fixture.connect()
            let count = 40
            let request = #"{"jsonrpc":"2.0","method":"big","params":{"bytes":1000000},"id":1}"# + "\n"
            try await lazy.send(String(repeating: request, count: count))
            let other = try fixture.connect()
            for _ in 0..<5 { _ = try await other.call("echo") }
            let answer = try await other.call("big", ["bytes": 10])
            #expect(answer["result"] == "xxxxxxxxxx")
            // What the socket holds, what is being written, and the two that were begun side by side.
            #expect(service.begun.filter { $0 == "big" }.count < 10)
            for _ in 0..<count { #expect(try await lazy.message()["id"] == 1) }
        }
    }
}
