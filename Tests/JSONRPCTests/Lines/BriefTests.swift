import NIOCore
import NIOPosix
import StrictJSON
import Testing
import XferTestSupport

@testable import JSONRPC

/// Brief calls are answered on the connection's event loop, all others are kept off it.
@Suite struct BriefTests {
    private let service = TestService(brief: ["place", "hold"], isPrivileged: true)

    @Test func aBriefCallStaysOnTheEventLoop() async throws {
        try await withServer(service: service) { fixture in
            let client = try fixture.connect()
            #expect(try await client.call("place")["result"] == "event loop")
        }
    }

    @Test func anOrdinaryCallLeavesTheEventLoop() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            #expect(try await client.call("place")["result"] == "elsewhere")
        }
    }

    /// Whatever unprivileged clients send takes its turn, and none of it the time of the event loop.
    @Test func aBriefCallOfAnUnprivilegedClientLeavesTheEventLoop() async throws {
        try await withServer(service: TestService(brief: ["place"])) { fixture in
            let client = try fixture.connect()
            #expect(try await client.call("place")["result"] == "elsewhere")
        }
    }

    @Test func aBriefCallInALongLineLeavesTheEventLoop() async throws {
        try await withServer(service: service) { fixture in
            let client = try fixture.connect()
            let padding = String(repeating: "x", count: Dispatcher.shortMessage)
            #expect(try await client.call("place", [.string(padding)])["result"] == "elsewhere")
        }
    }

    @Test func aBriefCallInABatchLeavesTheEventLoop() async throws {
        try await withServer(service: service) { fixture in
            let client = try fixture.connect()
            try await client.send(#"[{"jsonrpc":"2.0","method":"place","id":1}]"# + "\n")
            #expect(try await client.message().arrayValue?.first?["result"] == "elsewhere")
        }
    }

    @Test func aWaitingBriefCallDoesNotBlockTheEventLoop() async throws {
        try await withServer(service: service) { fixture in
            let waiting = try fixture.connect()
            try await waiting.send(#"{"jsonrpc":"2.0","method":"hold","id":1}"# + "\n")
            await service.gate.arrived()
            #expect(try await fixture.connect().call("place")["result"] == "event loop")
            service.gate.open()
            #expect(try await waiting.message()["result"] == "held")
        }
    }

    @Test func aTaskThatOutlivesItsEventLoopContinuesElsewhere() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let executor = LoopExecutor(group.next())
        let gate = Gate()
        let task = Task(executorPreference: executor) {
            let began = MultiThreadedEventLoopGroup.currentEventLoop != nil
            await gate.wait()
            return (began, MultiThreadedEventLoopGroup.currentEventLoop == nil)
        }
        await gate.arrived()
        await executor.end()
        try await group.shutdownGracefully()
        gate.open()
        let (began, ended) = await task.value
        #expect(began && ended)
    }
}
