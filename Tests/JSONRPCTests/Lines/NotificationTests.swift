import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferTestSupport

@Suite struct NotificationTests {
    @Test func keepTheirOrderAndCarryTheirParameters() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(
                #"{"jsonrpc":"2.0","method":"notify","params":{"count":1000},"id":1}"# + "\n")
            for number in 0..<1_000 {
                #expect(
                    try await client.message() == [
                        "jsonrpc": "2.0", "method": "event", "params": ["number": .integer(Int64(number))],
                    ])
            }
            #expect(try await client.message() == ["jsonrpc": "2.0", "result": "accepted", "id": 1])
        }
    }

    @Test func notificationsCanBeHeldBackUntilTheAnswerIsSent() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            for _ in 0..<100 {
                #expect(try await client.call("subscribe", [7])["result"] == "subscribed")
                #expect(try await client.message()["params"] == [7])
            }
            let request = #"{"jsonrpc":"2.0","method":"subscribe","params":[8],"id":1}"#
            try await client.send("[\(request),\(request)]\n")
            #expect(try await client.message().arrayValue?.count == 2)
            for _ in 0..<2 { #expect(try await client.message()["params"] == [8]) }
        }
        let ran = Gate()
        RPCConnection.afterAnswer { ran.open() }
        await ran.wait()
    }

    @Test func notificationsToAClientThatDoesNotReadAreRefusedUntilItReads() async throws {
        try await withServer(.with { $0.waitingBytes = 100_000 }) { fixture in
            let client = try fixture.connect()
            _ = try await client.call("echo")
            let connection = try await fixture.connection()
            let accepted = try await fill(connection, of: fixture)
            #expect(!connection.isWritable)
            #expect(connection.backlog.bytes <= 100_000)
            #expect(connection.backlog.notifications > 0)

            async let isWritable = connection.whenWritable()
            for _ in 0..<accepted { _ = try await client.readLine() }
            #expect(await isWritable)
            try await eventually("nothing waits any more") {
                connection.backlog == RPCBacklog(bytes: 0, notifications: 0)
            }
            #expect(connection.notify("event", params: []) == .accepted)
            #expect(try await client.message()["params"] == [])
        }
    }

    /// Sends until neither the kernel nor the server takes any more; how many were accepted.
    private func fill(_ connection: RPCConnection, of fixture: ServerFixture) async throws -> Int {
        let other = try fixture.connect()
        let params = JSONValue.array([.string(String(repeating: "x", count: 4_000))])
        var accepted = 0
        try await eventually("notifications are refused for good") {
            while connection.notify("event", params: params) == .accepted { accepted += 1 }
            // When another client is answered, the event loop has sent what it could.
            _ = try await other.call("echo")
            if connection.notify("event", params: params) == .full { return true }
            accepted += 1
            return false
        }
        return accepted
    }

    @Test func notificationsEndWithTheirConnection() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            _ = try await client.call("echo")
            let connection = try await fixture.connection()
            let closed = Gate()
            connection.onClose { closed.open() }
            client.disconnect()
            await closed.wait()
            #expect(!connection.isOpen)
            #expect(!connection.isWritable)
            #expect(connection.notify("event", params: []) == .unavailable)
            #expect(await connection.whenWritable() == false)
            let late = Gate()
            connection.onClose { late.open() }
            await late.wait()
        }
    }

    @Test func notificationWaitersLearnOfAClosedConnectionOrACancellation() async throws {
        try await withServer(.with { $0.waitingBytes = 10_000 }) { fixture in
            let client = try fixture.connect()
            _ = try await client.call("echo")
            let connection = try await fixture.connection()
            _ = try await fill(connection, of: fixture)
            let cancelled = Task { await connection.whenWritable() }
            cancelled.cancel()
            #expect(await cancelled.value == false)
            async let isWritable = connection.whenWritable()
            client.disconnect()
            #expect(await isWritable == false)
        }
    }

    @Test func notificationsLongerThanAMessageAreRefused() async throws {
        try await withServer(.with { $0.messageBytes = 1_000 }) { fixture in
            let client = try fixture.connect()
            _ = try await client.call("echo")
            let long = JSONValue.array([.string(String(repeating: "x", count: 1_000))])
            #expect(try await fixture.connection().notify("event", params: long) == .tooLarge)
            #expect(try await client.call("echo")["id"] == "call")
        }
    }

    @Test func aClientThatDoesNotReadHasNoMoreOfItsRequestsBegun() async throws {
        let limits = RPCLimits.with {
            $0.waitingBytes = 60_000
            $0.requestsInFlight = 4
        }
        try await withServer(limits) { fixture in
            let client = try fixture.connect()
            let requests = (0..<400).map {
                #"{"jsonrpc":"2.0","method":"big","params":{"bytes":20000},"id":\#($0)}"# + "\n"
            }
            try await client.send(requests.joined())
            let connection = try await fixture.connection()
            try await eventually("answers wait for the client") { !connection.isWritable }
            #expect(fixture.service.begun.count < 400)
            var ids: Set<Int64> = []
            for _ in 0..<400 { ids.insert(try await client.message()["id"]?.integerValue ?? -1) }
            #expect(ids == Set(0..<400))
            // Half of what may wait, and the answers to four requests that had begun.
            #expect(fixture.service.maxWaiting < 30_000 + 4 * 21_000)
        }
    }

    @Test func aLongRequestIsReadAlthoughItsClientReadsNoNotifications() async throws {
        try await withServer(.with { $0.waitingBytes = 100_000 }) { fixture in
            let client = try fixture.connect()
            _ = try await client.call("echo")
            let accepted = try await fill(fixture.connection(), of: fixture)
            // More than the buffers of the sockets take.
            let text = String(repeating: "x", count: 2 << 20)
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","params":["\#(text)"],"id":1}"# + "\n")
            for _ in 0..<accepted { _ = try await client.readLine() }
            #expect(try await client.message()["id"] == 1)
        }
    }

    @Test func notificationsCanBeSentFromManyThreadsAtOnce() async throws {
        try await withServer(.with { $0.waitingBytes = 1 << 24 }) { fixture in
            let client = try fixture.connect()
            _ = try await client.call("echo")
            let connection = try await fixture.connection()
            await withTaskGroup { group in
                for sender in 0..<8 {
                    group.addTask {
                        for number in 0..<500 {
                            connection.notify("event", params: [.integer(Int64(sender)), .integer(Int64(number))])
                        }
                    }
                }
            }
            var next = [Int64](repeating: 0, count: 8)
            for _ in 0..<4_000 {
                let params = try #require(try await client.message()["params"]?.arrayValue)
                let sender = Int(try #require(params.first?.integerValue))
                try #require(next.indices.contains(sender))
                #expect(params.last?.integerValue == next[sender])
                next[sender] += 1
            }
            #expect(next == [Int64](repeating: 500, count: 8))
        }
    }
}
