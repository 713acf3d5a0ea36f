import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

/// The requests of one user on several connections. `hold` waits until the gate is opened.
@Suite struct UserTurnTests {
    private static let limit = 4
    private static let limits = RPCLimits.with { $0.requestsPerUser = limit }
    private let holds = (0..<10).map { #"{"jsonrpc":"2.0","method":"hold","id":\#($0)}"# }

    private var lines: String { holds.map { $0 + "\n" }.joined() }
    private var batch: String { "[" + holds.joined(separator: ",") + "]\n" }

    @Test(arguments: [false, true]) func noMoreRunThanTheUserMayHave(areBatches: Bool) async throws {
        let service = TestService()
        try await withServer(Self.limits, service: service) { fixture in
            let clients = try (0..<3).map { _ in try fixture.connect() }
            for client in clients { try await client.send(areBatches ? batch : lines) }
            await service.gate.arrived(Self.limit)
            #expect(service.begun.count == Self.limit)
            service.gate.open()
            for client in clients {
                for _ in 0..<(areBatches ? 1 : holds.count) { _ = try await client.message() }
            }
            #expect(service.begun.count == 30 && service.maxRunning == Self.limit)
        }
    }

    @Test func requestsOfPrivilegedUsersAndThoseThatWaitDoNotCount() async throws {
        for service in [TestService(isPrivileged: true), TestService(waiting: ["hold"])] {
            try await withServer(Self.limits, service: service) { fixture in
                let client = try fixture.connect()
                try await client.send(lines)
                await service.gate.arrived(holds.count)
                #expect(try await fixture.connect().call("echo", [1])["result"] == [1])
                service.gate.open()
                for _ in holds { #expect(try await client.message()["result"] == "held") }
            }
        }
    }

    @Test func waitingRequestsOfADisconnectedClientAreNotBegun() async throws {
        let service = TestService()
        try await withServer(Self.limits, service: service) { fixture in
            let flooding = try fixture.connect()
            try await flooding.send(lines)
            await service.gate.arrived(Self.limit)
            flooding.disconnect()
            try await eventually("those that had begun are cancelled") { service.cancelled == Self.limit }
            #expect(try await fixture.connect().call("echo", [1])["result"] == [1])
            #expect(service.begun.filter { $0 == "hold" }.count == Self.limit)
        }
    }

    /// What is kept for a batch until its last answer counts as unread, and no longer when the batch is answered.
    @Test func answersOfUnfinishedBatchesCountAsUnread() async throws {
        let service = TestService()
        try await withServer(.with { $0.waitingBytesPerUser = 1000 }, service: service) { fixture in
            let client = try fixture.connect()
            let big = #"{"jsonrpc":"2.0","method":"big","params":{"bytes":1001},"id":1}"#
            try await client.send("[\(holds[2]),\(big)]\n")
            await service.gate.arrived(1)
            let other = try fixture.connect()
            try await eventually("the long answer is kept") {
                try await other.call("echo")["error"]?["data"]?["reason"] == "too_much_unread"
            }
            service.gate.open()
            #expect(try await client.message().arrayValue?.count == 2)
            try await eventually("the answer has been read") { try await other.call("echo")["error"] == nil }
        }
    }

    @Test func messagesOfSomeKibibytesRunEightAtATime() async throws {
        let service = TestService()
        try await withServer(service: service) { fixture in
            let client = try fixture.connect()
            try await client.send(String(repeating: Self.hold(bytes: 5000), count: 12))
            await service.gate.arrived(8)
            // Short ones do not wait for them.
            #expect(try await fixture.connect().call("echo", [1])["result"] == [1])
            #expect(service.begun.filter { $0 == "hold" }.count == 8)
            service.gate.open()
            for _ in 0..<12 { #expect(try await client.message()["result"] == "held") }
        }
    }

    @Test func requestsThatMayHaveLongAnswersHaveTurnsOfTheirOwn() async throws {
        let service = TestService(longAnswers: ["hold"])
        try await withServer(.with { $0.longAnswersPerUser = 2 }, service: service) { fixture in
            let client = try fixture.connect()
            try await client.send(lines)
            await service.gate.arrived(2)
            #expect(try await fixture.connect().call("echo", [1])["result"] == [1])
            #expect(service.begun.filter { $0 == "hold" }.count == 2)
            service.gate.open()
            for _ in holds { #expect(try await client.message()["result"] == "held") }
        }
    }

    /// Calls that wait have no turns, so that their bytes are bounded: half a message, and one longer message alone.
    @Test(arguments: [false, true]) func theBytesOfAUsersWaitingCallsAreBounded(areBatches: Bool) async throws {
        let service = TestService(waiting: ["hold"])
        try await withServer(.with { $0.messageBytes = 100_000 }, service: service) { fixture in
            let first = try fixture.connect()
            try await first.send(Self.hold(bytes: 60_000, isBatch: areBatches))
            await service.gate.arrived(1)
            let refused = try fixture.connect()
            try await refused.send(Self.hold(bytes: 100, isBatch: areBatches))
            let answer = try await refused.message()
            #expect(answer["error"]?["data"] == ["reason": "too_much_input", "limit": 50_000])
            #expect(answer["id"] == (areBatches ? JSONValue.null : 1))
            // The connection stays.
            #expect(try await refused.call("echo", [1])["result"] == [1])
            service.gate.open()
            _ = try await first.message()
            try await refused.send(Self.hold(bytes: 100, isBatch: areBatches))
            #expect(try await refused.message()["error"] == nil)
        }
    }

    private static func hold(bytes: Int, isBatch: Bool = false) -> String {
        let filler = String(repeating: "x", count: bytes)
        let request = #"{"jsonrpc":"2.0","method":"hold","params":["\#(filler)"],"id":1}"#
        return (isBatch ? "[\(request)]" : request) + "\n"
    }

    /// A user's long messages run one at a time, but for those that wait.
    @Test(arguments: [false, true]) func longMessagesRunOneAtATime(isWaiting: Bool) async throws {
        let service = TestService(waiting: isWaiting ? ["hold"] : [])
        try await withServer(service: service) { fixture in
            let filler = String(repeating: "x", count: 64 << 10)
            let line = #"{"jsonrpc":"2.0","method":"hold","params":["\#(filler)"],"id":1}"# + "\n"
            let clients = try (0..<3).map { _ in try fixture.connect() }
            for client in clients { try await client.send(line) }
            await service.gate.arrived(isWaiting ? 3 : 1)
            // Short ones do not wait for them.
            #expect(try await fixture.connect().call("echo", [1])["result"] == [1])
            #expect(service.begun.filter { $0 == "hold" }.count == (isWaiting ? 3 : 1))
            service.gate.open()
            for client in clients { #expect(try await client.message()["result"] == "held") }
            #expect(service.begun.count == 4)
        }
    }
}
