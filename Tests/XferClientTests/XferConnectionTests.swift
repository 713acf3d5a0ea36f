import Foundation
import Glibc
import StrictJSON
import Testing
import XferProtocol
import XferTestSupport

@testable import XferClient

private func note(_ number: Int) -> String {
    #"{"jsonrpc":"2.0","method":"tick","params":{"n":\#(number)}}"# + "\n"
}

struct XferConnectionTests {
    // MARK: Calls

    @Test func aTypedCallGetsItsResult() throws {
        let server = try ScriptedServer { peer in
            guard let line = peer.readLine() else { return }
            let isRight = line == #"{"jsonrpc":"2.0","id":1,"method":"queue.pause","params":{"running":true}}"#
            peer.write(#"{"jsonrpc":"2.0","id":1,"result":{"paused":\#(isRight),"since":"a newer daemon"}}"# + "\n")
        }
        let connection = try XferConnection.connect(to: server.path)
        let result = try connection.call(QueuePause.self, QueuePause.Params(running: true), timeout: Patience.limit)
        #expect(result.paused)
    }

    @Test func aRefusalKeepsTheDaemonsErrorData() throws {
        let server = try ScriptedServer { peer in
            _ = peer.readLine()
            peer.write(
                #"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"url: missing","data":{"reason":"missing","path":"url"}}}"#
                    + "\n")
        }
        let connection = try XferConnection.connect(to: server.path)
        let error = #expect(throws: CallError.self) { try connection.call("task.add", [:], timeout: Patience.limit) }
        #expect(
            error
                == .refused(RPCFailure(.invalidParams, "url: missing", data: ErrorData(reason: "missing", path: "url")))
        )
    }

    @Test func aResultOfAnotherShapeIsAMalformedResult() throws {
        let server = try ScriptedServer { peer in
            _ = peer.readLine()
            peer.write(#"{"jsonrpc":"2.0","id":1,"result":{"paused":"yes"}}"# + "\n")
        }
        let connection = try XferConnection.connect(to: server.path)
        let error = #expect(throws: CallError.self) {
            try connection.call(QueueResume.self, QueueResume.Params(), timeout: Patience.limit)
        }
        guard case .malformedResult("queue.resume", let fault) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fault.path == "paused")
    }

    @Test func pipelinedCallsAreAnsweredInAnyOrder() throws {
        let server = try ScriptedServer { peer in
            for _ in 0..<3 { _ = peer.readLine() }
            for id in [3, 1, 2] { peer.write(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(id * 10)}"# + "\n") }
            peer.awaitClose()
        }
        let connection = try XferConnection.connect(to: server.path)
        let ids = try (0..<3).map { _ in try connection.send("x.y") }
        for id in ids { #expect(try connection.answer(to: id, timeout: Patience.limit) == .integer(id * 10)) }
    }

    @Test func anAnswerInPiecesIsPutTogether() throws {
        let server = try ScriptedServer { peer in
            _ = peer.readLine()
            for byte in Array((note(1) + #"{"jsonrpc":"2.0","id":1,"result":"ä"}"# + "\n").utf8) { peer.write([byte]) }
            peer.awaitClose()
        }
        let connection = try XferConnection.connect(to: server.path)
        #expect(try connection.call("x.y", timeout: Patience.limit) == "ä")
        #expect(try connection.nextNotification(timeout: .zero)?.params == ["n": 1])
    }

    // MARK: Notifications

    @Test func notificationsBetweenAnswersKeepTheirOrder() throws {
        let server = try ScriptedServer { peer in
            _ = peer.readLine()
            for number in 0..<2000 { peer.write(note(number)) }
            peer.write(#"{"jsonrpc":"2.0","id":1,"result":true}"# + "\n")
            for number in 2000..<3000 { peer.write(note(number)) }
        }
        let connection = try XferConnection.connect(to: server.path)
        #expect(try connection.call("x.y", timeout: Patience.limit) == true)
        for number in 0..<3000 {
            #expect(try connection.nextNotification(timeout: Patience.limit)?.params == ["n": .integer(Int64(number))])
        }
        // What arrived before the end is given out before the end is reported.
        #expect(throws: ConnectionError.closed) { try connection.nextNotification(timeout: Patience.limit) }
    }

    @Test func anEventNotificationIsParsed() throws {
        let server = try ScriptedServer { peer in
            peer.write(
                #"{"jsonrpc":"2.0","method":"event","params":{"seq":2,"time":"2026-01-02T03:04:05Z","type":"task.removed","task_id":1,"owner":0}}"#
                    + "\n" + note(1))
            peer.awaitClose()
        }
        let connection = try XferConnection.connect(to: server.path)
        #expect(try connection.nextNotification(timeout: Patience.limit)?.event()?.seq == 2)
        #expect(try connection.nextNotification(timeout: Patience.limit)?.event() == nil)
    }

    @Test func aSilentDaemonEndsTheCallWithATimeout() throws {
        let server = try ScriptedServer { $0.awaitClose() }
        let connection = try XferConnection.connect(to: server.path)
        #expect(try connection.nextNotification(timeout: .milliseconds(20)) == nil)
        #expect(throws: CallError.connection(.timedOut)) { try connection.call("x.y", timeout: .milliseconds(20)) }
    }

    @Test func anInterruptEndsTheWaitingAndLeavesTheConnectionUsable() throws {
        let server = try ScriptedServer { peer in
            while let line = peer.readLine() {
                if line.contains("again") { peer.write(#"{"jsonrpc":"2.0","id":2,"result":1}"# + "\n") }
            }
        }
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let connection = try XferConnection.connect(to: server.path)
        connection.interruptDescriptor = ends[0]
        #expect(write(ends[1], "x", 1) == 1)
        #expect(throws: CallError.connection(.interrupted)) { try connection.call("x.y", timeout: Patience.limit) }
        connection.interruptDescriptor = nil
        #expect(try connection.call("x.again", timeout: Patience.limit) == 1)
    }

    // MARK: Misbehaviour

    @Test func aDaemonThatClosesTheConnectionIsNoticed() throws {
        let server = try ScriptedServer { _ = $0.readLine() }
        let connection = try XferConnection.connect(to: server.path)
        #expect(throws: CallError.connection(.closed)) { try connection.call("x.y", timeout: Patience.limit) }
    }

    @Test func anEndlessLineIsCutShort() throws {
        let server = try ScriptedServer { peer in
            _ = peer.readLine()
            peer.write([UInt8](repeating: UInt8(ascii: "x"), count: XferConnection.messageLimit + 1_000_000))
        }
        let connection = try XferConnection.connect(to: server.path)
        #expect(throws: CallError.connection(.messageTooLong(limit: XferConnection.messageLimit))) {
            try connection.call("x.y", timeout: Patience.limit)
        }
    }

    @Test func aMessageThatIsTooLongIsNotSent() throws {
        let server = try ScriptedServer { peer in
            _ = peer.readLine()
            peer.write(#"{"jsonrpc":"2.0","id":2,"result":1}"# + "\n")
        }
        let connection = try XferConnection.connect(to: server.path)
        let long = String(repeating: "x", count: XferConnection.messageLimit)
        #expect(throws: CallError.connection(.messageTooLong(limit: XferConnection.messageLimit))) {
            try connection.call("x.y", ["a": .string(long)], timeout: Patience.limit)
        }
        #expect(try connection.call("x.y", timeout: Patience.limit) == 1)
    }

    @Test(arguments: ["nonsense\n", "[]\n", "{\"jsonrpc\":\"2.0\",\"id\":1}\n", "{\"id\":1,\"error\":3}\n", "\n"])
    func aLineThatIsNoMessageIsAConnectionError(line: String) throws {
        let server = try ScriptedServer { peer in
            _ = peer.readLine()
            peer.write(line)
        }
        let connection = try XferConnection.connect(to: server.path)
        let error = #expect(throws: CallError.self) { try connection.call("x.y", timeout: Patience.limit) }
        guard case .connection(.malformedMessage) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// Both ends would wait for each other for ever if the client did not read while it writes.
    @Test func aLongRequestMeetsALongStreamOfNotifications() throws {
        let count = 20_000
        let server = try ScriptedServer { peer in
            for number in 0..<count { peer.write(note(number)) }
            let length = peer.readLine()?.utf8.count ?? 0
            peer.write(#"{"jsonrpc":"2.0","id":1,"result":\#(length)}"# + "\n")
            peer.awaitClose()
        }
        let connection = try XferConnection.connect(to: server.path)
        let long = String(repeating: "x", count: 3_000_000)
        let length = try #require(try connection.call("x.y", .string(long), timeout: Patience.limit).integerValue)
        #expect(length > 3_000_000)
        var received = 0
        while try connection.nextNotification(timeout: .zero) != nil { received += 1 }
        #expect(received == count)
    }

    // MARK: Connecting

    @Test func eachConnectFailureHasAnErrorOfItsOwn() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "xc-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }

        let absent = directory.appending(path: "absent").path
        #expect(throws: ConnectionError.noSocket(path: absent)) { try XferConnection.connect(to: absent) }

        let stale = directory.appending(path: "stale").path
        close(try UnixSocket.listen(at: stale))
        #expect(throws: ConnectionError.notListening(path: stale)) { try XferConnection.connect(to: stale) }

        let long = "/" + String(repeating: "x", count: 120)
        #expect(throws: ConnectionError.pathTooLong(path: long)) { try XferConnection.connect(to: long) }
    }

    /// Told by error number, since root may open everything.
    @Test func connectErrorsAreClassifiedByErrno() {
        #expect(ConnectionError.connecting(to: "/s", errno: EACCES) == .permissionDenied(path: "/s"))
        #expect(ConnectionError.connecting(to: "/s", errno: ENOTDIR) == .noSocket(path: "/s"))
        #expect(ConnectionError.connecting(to: "/s", errno: EMFILE) == .system(call: "connect", errno: EMFILE))
    }
}
