import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferClient

extension ScriptedServer.Peer {
    /// Answers the question for the database that each connection begins with.
    func greet(store: String = "first") {
        _ = readLine()
        answer(1, ["store_id": .string(store)])
    }

    func answer(_ id: Int64, _ result: JSONValue) {
        write(JSONValue.object(["jsonrpc": "2.0", "id": .integer(id), "result": result]).text + "\n")
    }
}

private func client(of server: ScriptedServer, timeout: Duration = Patience.limit) -> TransferClient {
    var options = TransferClient.Options()
    options.timeout = timeout
    return TransferClient(.socket(server.path), options: options)
}

/// The client's connections, against scripted daemons.
struct TransferClientTests {
    @Test func aCancelledCallEndsAtOnceAndTheConnectionStaysUsable() async throws {
        let hasArrived = Gate()
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            hasArrived.open()
            _ = peer.readLine()
            peer.answer(2, "too late")
            peer.answer(3, "in time")
            peer.awaitClose()
        }
        let client = client(of: server)
        let call = Task { try await client.call("queue.pause") }
        await hasArrived.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await client.call("queue.pause") == "in time")
    }

    @Test func cancelledReadsThatFillAConnectionEndWithIt() async throws {
        let count = CallTable.capacity
        let haveArrived = Gate()
        let server = try ScriptedServer(connections: 2) { peer in
            peer.greet()
            guard peer.readLine()?.contains("task.wait") == true else { return peer.answer(2, true) }
            for _ in 1..<count { _ = peer.readLine() }
            haveArrived.open()
            peer.awaitClose()
        }
        let client = client(of: server)
        let calls = (0..<count).map { _ in Task { try await client.call("task.wait", timeout: Patience.long) } }
        await haveArrived.wait()
        for call in calls {
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(try await client.call("queue.pause") == true)
    }

    @Test func aCallInACancelledTaskIsNotSent() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            peer.answer(2, .string(peer.readLine() ?? ""))
            peer.awaitClose()
        }
        let client = client(of: server)
        let gate = Gate()
        let call = Task {
            await gate.wait()
            return try await client.call("queue.pause")
        }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await client.call("queue.resume").stringValue?.contains("queue.resume") == true)
    }

    @Test func aRefusalKeepsTheDaemonsErrorData() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            peer.write(
                #"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"url: missing","data":{"reason":"missing","path":"url"}}}"#
                    + "\n")
            peer.awaitClose()
        }
        let refusal = RPCFailure(.invalidParams, "url: missing", data: ErrorData(reason: "missing", path: "url"))
        let client = client(of: server)
        await #expect(throws: CallError.refused(refusal)) { try await client.add("") }
    }

    @Test func aReadingCallIsRepeatedOnceWhenItsConnectionIsLost() async throws {
        let calls = NIOLockedValueBox(0)
        let server = try ScriptedServer(connections: 2) { peer in
            peer.greet()
            _ = peer.readLine()
            calls.withLockedValue { $0 += 1 }
        }
        let client = client(of: server)
        await #expect(throws: CallError.connection(.closed)) { try await client.call("network.status") }
        #expect(calls.withLockedValue(\.self) == 2)
    }

    @Test func aChangingCallIsNotRepeatedWhenItsConnectionIsLost() async throws {
        let calls = NIOLockedValueBox(0)
        let server = try ScriptedServer(connections: 2) { peer in
            peer.greet()
            guard let line = peer.readLine() else { return }
            calls.withLockedValue { $0 += 1 }
            if line.contains("queue.resume") { peer.answer(2, true) }
        }
        let client = client(of: server)
        await #expect(throws: CallError.connection(.closed)) { try await client.call("queue.pause") }
        #expect(try await client.call("queue.resume") == true)
        #expect(calls.withLockedValue(\.self) == 2)
    }

    @Test func anAddIsRepeatedWithItsKeyWhenItsAnswerIsLost() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let server = try ScriptedServer(connections: 2) { peer in
            peer.greet()
            guard let line = peer.readLine() else { return }
            let count = lines.withLockedValue { lines in
                lines.append(line)
                return lines.count
            }
            guard count == 2 else { return }
            peer.answer(2, ["task": ["id": 17], "existing": true])
            peer.awaitClose()
        }
        let task = try await client(of: server).add("http://a.test/") { $0.label = "nightly" }
        #expect(task.id == TaskID(17) && task.storeID == "first")
        let sent = lines.withLockedValue(\.self)
        #expect(sent.count == 2 && sent[0] == sent[1])
        #expect(sent[0].contains(#""label":"nightly""#) && sent[0].contains(#""client_key":"swift-"#))
    }

    /// Answers every add with an id for each task, and returns the numbers of tasks in the calls.
    private func sizesOfAdds(
        of tasks: some Sequence<NewTask> & Sendable, count: Int
    ) async throws -> [Int] {
        let sizes = NIOLockedValueBox<[Int]>([])
        let server = try ScriptedServer { peer in
            peer.greet()
            while let line = peer.readLine(), let call = try? JSONValue(parsing: line.utf8) {
                let size = call["params"]?["tasks"]?.arrayValue?.count ?? 0
                let earlier = sizes.withLockedValue { sizes in
                    defer { sizes.append(size) }
                    return sizes.reduce(0, +)
                }
                let ids = (0..<size).map { JSONValue.integer(Int64(earlier + $0 + 1)) }
                peer.answer(call["id"]?.integerValue ?? 0, ["ids": .array(ids), "existing": []])
            }
        }
        let added = try await client(of: server).addAll(tasks)
        #expect(added.map(\.id.rawValue) == (0..<count).map { Int64($0 + 1) })
        return sizes.withLockedValue(\.self)
    }

    @Test(
        arguments: [(0, []), (1, [1]), (9999, [9999]), (10_000, [10_000]), (10_001, [10_000, 1])] as [(Int, [Int])])
    func anyNumberOfTasksIsAddedInCallsOfTenThousand(count: Int, sizes: [Int]) async throws {
        let tasks = (0..<count).map { NewTask(url: "http://a.test/\($0)") }
        #expect(try await sizesOfAdds(of: tasks, count: count) == sizes)
    }

    /// Tasks of 1 MiB each: two of them are less than 3 MiB, and three are more.
    @Test func longTasksAreAddedInCallsOfThreeMebibytes() async throws {
        let tasks = (0..<5).map { index in
            var task = NewTask(url: "http://a.test/\(index)")
            task.label = String(repeating: "l", count: 1 << 20)
            return task
        }
        #expect(try await sizesOfAdds(of: tasks, count: 5) == [2, 2, 1])
        // One that is too long alone is sent alone: the daemon says what it thinks of it.
        var long = NewTask(url: "http://a.test/")
        long.label = String(repeating: "l", count: (3 << 20) + 1)
        #expect(try await sizesOfAdds(of: [tasks[0], long, tasks[1]], count: 3) == [1, 1, 1])
    }

    @Test func aSilentDaemonEndsTheCallAndTheNextOneHasAnotherConnection() async throws {
        let server = try ScriptedServer(connections: 2) { peer in
            peer.greet()
            guard let line = peer.readLine() else { return }
            if line.contains("queue.resume") { peer.answer(2, true) }
            peer.awaitClose()
        }
        let client = client(of: server)
        await #expect(throws: CallError.connection(.timedOut)) {
            try await client.call("queue.pause", timeout: .milliseconds(20))
        }
        #expect(try await client.call("queue.resume") == true)
    }

    @Test func anAnswerWithoutAnIdEndsTheCallsWithItsError() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            peer.write(#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too long"}}"# + "\n")
        }
        let client = client(of: server)
        await #expect(throws: CallError.refused(RPCFailure(.invalidRequest, "too long"))) {
            try await client.call("queue.pause")
        }
    }

    @Test func aDaemonThatRefusesTheConnectionSaysWhy() async throws {
        let server = try ScriptedServer { peer in
            peer.write(#"{"jsonrpc":"2.0","id":null,"error":{"code":-32006,"message":"too many clients"}}"# + "\n")
        }
        let client = client(of: server)
        await #expect(throws: CallError.refused(RPCFailure(.limitExceeded, "too many clients"))) {
            try await client.call("queue.pause")
        }
    }

    @Test(arguments: ["nonsense\n", "[]\n", "{\"jsonrpc\":\"2.0\",\"id\":2}\n"])
    func aLineThatIsNoMessageIsAConnectionError(line: String) async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            peer.write(line)
        }
        let client = client(of: server)
        let error = await #expect(throws: CallError.self) { try await client.call("queue.pause") }
        guard case .connection(.malformedMessage) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func anEndlessLineIsCutShort() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            peer.write([UInt8](repeating: UInt8(ascii: "x"), count: XferConnection.messageLimit + 1_000_000))
        }
        let client = client(of: server)
        await #expect(throws: CallError.connection(.messageTooLong(limit: XferConnection.messageLimit))) {
            try await client.call("queue.pause")
        }
    }

    @Test func aMessageThatIsTooLongIsNotSentAndTheConnectionStaysUsable() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            peer.answer(3, 1)
            peer.awaitClose()
        }
        let client = client(of: server)
        let long = JSONValue.string(String(repeating: "x", count: XferConnection.messageLimit))
        await #expect(throws: CallError.connection(.messageTooLong(limit: XferConnection.messageLimit))) {
            try await client.call("queue.pause", ["a": long])
        }
        #expect(try await client.call("queue.pause") == 1)
    }

    @Test func aTaskOfAnotherDatabaseIsNotAskedFor() async throws {
        let server = try ScriptedServer { peer in
            peer.greet(store: "second")
            peer.awaitClose()
        }
        let client = client(of: server)
        await #expect(throws: StoreChangedError(expected: "first", found: "second")) {
            try await client.task(TaskID(1), storeID: "first").cancel()
        }
    }

    @Test func theLastReferenceClosesTheConnection() async throws {
        let hasClosed = Gate()
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            peer.answer(2, 1)
            peer.awaitClose()
            hasClosed.open()
        }
        #expect(try await client(of: server).call("queue.pause") == 1)
        await hasClosed.wait()
    }

    @Test func aClosedClientMakesNoCalls() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.readLine()
            peer.answer(2, 1)
            peer.awaitClose()
        }
        let client = client(of: server)
        #expect(try await client.call("queue.pause") == 1)
        await client.close()
        await #expect(throws: ClientClosedError.self) { try await client.call("queue.pause") }
    }

    @Test func aWaitForADaemonThatStaysAwayEndsInTime() async throws {
        let directory = try TemporaryDirectory("xfer-absent")
        let task = TransferClient(.socket(directory.file("s"))).task(TaskID(1))
        await #expect(throws: TaskError.timedOut(TaskID(1))) { try await task.wait(timeout: .milliseconds(20)) }
    }

    @Test func withoutADaemonTheErrorNamesTheSocket() async throws {
        let directory = try TemporaryDirectory("xfer-absent")
        let client = TransferClient(.socket(directory.file("s")))
        let error = await #expect(throws: NoDaemonError.self) { try await client.call("queue.pause") }
        #expect(error?.tried.map(\.error) == [.noSocket(path: directory.file("s"))])
        let long = "/" + String(repeating: "x", count: 120)
        let other = await #expect(throws: NoDaemonError.self) {
            try await TransferClient(.socket(long)).call("queue.pause")
        }
        #expect(other?.tried.map(\.error) == [.pathTooLong(path: long)])
    }
}
