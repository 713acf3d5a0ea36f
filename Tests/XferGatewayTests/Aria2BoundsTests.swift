import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferTestSupport

@testable import XferGateway

/// What calls of aria2's dialect may cost.
struct Aria2BoundsTests {
    @Test func aMulticallBeyondTheBoundIsRefusedAsAWhole() async throws {
        var limits = GatewayWorld.patientLimits
        limits.batchRequests = 3
        let service = ListService()
        let world = try await GatewayWorld(limits: limits, service: service)
        let call: JSONValue = ["methodName": "aria2.tellActive", "params": ["token:own"]]
        let refused = try await world.aria2("system.multicall", [.array(Array(repeating: call, count: 4))])
        #expect(refused.object["error"] != nil && service.listed.isEmpty, "\(refused)")
        let batch: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": "aria2.tellActive", "params": ["token:own"]]
        let many = try await world.aria2(text: JSONValue.array(Array(repeating: batch, count: 4)).text)
        #expect(many.object["error"] != nil && service.listed.isEmpty, "\(many)")
        let allowed = try await world.aria2("system.multicall", [.array(Array(repeating: call, count: 3))])
        #expect(allowed.object["result"]?.arrayValue?.count == 3, "\(allowed)")
        await world.gateway.shutdown(grace: .zero)
    }

    @Test func listsOfBothDialectsTakeTurns() async throws {
        var limits = GatewayWorld.patientLimits
        limits.bulkRequests = 1
        let service = ListService()
        let world = try await GatewayWorld(limits: limits, service: service)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let answer = try await world.aria2("aria2.tellActive", ["token:own", ["gid"]])
                    #expect(answer.object["result"] != nil, "\(answer)")
                }
                group.addTask { _ = try await world.exchange(GatewayWorld.post("task.list", token: "read")) }
            }
            try await group.waitForAll()
        }
        #expect(service.mostAtATime == 1 && service.listed.count >= 6)
        await world.gateway.shutdown(grace: .zero)
    }

    @Test func aShortPrefixOfAGIDReadsOnePage() async throws {
        let service = ListService()
        let world = try await GatewayWorld(service: service)
        let answer = try await world.aria2("aria2.tellStatus", ["token:own", "a"])
        #expect(answer.object["error"]?["message"] == "GID a is not found", "\(answer)")
        #expect(service.listed == [1000])
        await world.gateway.shutdown(grace: .zero)
    }
}

/// Lists as many tasks as it is asked for, always with more to come.
private final class ListService: RPCService {
    private struct State {
        var listed: [Int64] = []
        var running = 0
        var mostAtATime = 0
    }

    private let state = NIOLockedValueBox(State())

    /// The limit of each list.
    var listed: [Int64] { state.withLockedValue(\.listed) }
    var mostAtATime: Int { state.withLockedValue(\.mostAtATime) }

    func isBulk(_ method: String) -> Bool { method == "task.list" }

    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        let limit = params?["limit"]?.integerValue ?? 0
        state.withLockedValue { state in
            state.listed.append(limit)
            state.running += 1
            state.mostAtATime = max(state.mostAtATime, state.running)
        }
        for _ in 0..<1000 { await Task.yield() }
        state.withLockedValue { $0.running -= 1 }
        let tasks = (0..<limit).map { JSONValue.object(["id": .integer($0 + 1)]) }
        return .value(["tasks": .array(tasks), "next_cursor": "more"])
    }
}
