import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

/// Which clients get a connection when there are many, and how incomplete requests end.
@Suite struct ShareTests {
    @Test func aUsersConnectionsBeyondItsShareAreRefused() async throws {
        try await withServer(.with { $0.clientsPerUser = 2 }) { fixture in
            let clients = [try fixture.connect(), try fixture.connect()]
            for client in clients { #expect(try await client.call("echo")["result"] == .null) }
            let third = try fixture.connect()
            let error = try await third.message()["error"]
            #expect(error?["message"] == "this user has 2 connections already")
            #expect(error?["data"] == ["reason": "too_many_clients", "limit": 2])
            #expect(try await clients[0].call("echo")["result"] == .null)
        }
    }

    @Test func aReleasedConnectionPlaceIsGivenToTheNextClient() async throws {
        try await withServer(.with { $0.clientsPerUser = 1 }) { fixture in
            for _ in 0..<5 {
                do {
                    let client = try fixture.connect()
                    #expect(try await client.call("echo")["result"] == .null)
                }
                try await eventually("the server has closed it") { fixture.server.clientCount == 0 }
            }
        }
    }

    /// Notifications are carried out without their client, who cannot have more of them by disconnecting.
    @Test(arguments: [false, true]) func aPlaceIsKeptUntilTheLastMessageIsCarriedOut(isPosted: Bool) async throws {
        let service = TestService()
        try await withServer(.with { $0.clientsPerUser = 1 }, service: service) { fixture in
            let client = try fixture.connect()
            let body = #"{"jsonrpc":"2.0","method":"hold"}"#
            let post = "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            try await client.send(isPosted ? post : body + "\n")
            await service.gate.arrived(1)
            client.disconnect()
            try await eventually("the server has closed it") { fixture.server.clientCount == 0 }
            #expect(try await fixture.connect().message()["error"]?["data"]?["reason"] == "too_many_clients")
            service.gate.open()
            try await eventually("the place is free") { try await fixture.connect().call("echo")["error"] == nil }
        }
    }

    /// A closed connection whose message is still carried out does not delay the end of the server.
    @Test func aShutdownDoesNotWaitForMessagesOfClosedConnections() async throws {
        let service = TestService()
        try await withServer(service: service) { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"hold"}"# + "\n")
            await service.gate.arrived(1)
            client.disconnect()
            try await eventually("the server has closed it") { fixture.server.clientCount == 0 }
            await fixture.server.shutdown(grace: .seconds(600))
            #expect(service.released == 0)
            service.gate.open()
        }
    }

    @Test func reservedPlacesAreForThePrivilegedAlone() async throws {
        let limits = RPCLimits.with {
            $0.clients = 4
            $0.reservedClients = 2
        }
        try await withServer(limits) { fixture in
            let clients = [try fixture.connect(), try fixture.connect()]
            for client in clients { #expect(try await client.call("echo")["result"] == .null) }
            let error = try await fixture.connect().message()["error"]
            #expect(error?["data"] == ["reason": "too_many_clients", "limit": 2])
        }
        try await withServer(limits, service: TestService(isPrivileged: true)) { fixture in
            let clients = try (0..<4).map { _ in try fixture.connect() }
            for client in clients { #expect(try await client.call("echo")["result"] == .null) }
            #expect(try await fixture.connect().message()["error"]?["data"]?["limit"] == 4)
        }
    }

    /// However many places may be reserved, half of them stay open to all users.
    @Test func moreThanHalfOfThePlacesCannotBeReserved() async throws {
        let limits = RPCLimits.with {
            $0.clients = 2
            $0.reservedClients = 100
        }
        try await withServer(limits) { fixture in
            let client = try fixture.connect()
            #expect(try await client.call("echo")["result"] == .null)
        }
    }

    private static let impatient = RPCLimits.with { $0.requestTime = .milliseconds(200) }

    @Test func anIncompleteLineEndsItsConnectionAtTheTimeout() async throws {
        try await withServer(Self.impatient) { fixture in
            let client = try fixture.connect()
            #expect(try await client.call("echo")["result"] == .null)
            try await client.send(#"{"jsonrpc":"#)
            let error = try await client.message()["error"]
            #expect(error?["code"] == -32600 && error?["data"]?["reason"] == "request_timeout")
            #expect(try await client.readLine() == nil)
        }
    }

    /// Further bytes do not extend the time limit.
    @Test func aLineSentByteByByteGainsNoTime() async throws {
        try await withServer(Self.impatient) { fixture in
            let (client, other) = (try fixture.connect(), try fixture.connect())
            let trickle = Task {
                while !Task.isCancelled {
                    try await client.send("[")
                    // The server goes on between two bytes.
                    _ = try await other.call("echo")
                }
            }
            #expect(try await client.message()["error"]?["data"]?["reason"] == "request_timeout")
            trickle.cancel()
        }
    }

    @Test func anIdleConnectionIsNeverClosed() async throws {
        try await withServer(Self.impatient) { fixture in
            let idle = try fixture.connect()
            let asked = try fixture.connect()
            #expect(try await asked.call("echo")["result"] == .null)
            let slow = try fixture.connect()
            try await slow.send("[")
            // Both outlast one that was begun later.
            #expect(try await slow.message()["error"]?["data"]?["reason"] == "request_timeout")
            #expect(try await idle.call("echo")["result"] == .null)
            #expect(try await asked.call("echo")["result"] == .null)
        }
    }

    /// A call that takes long is no incomplete request.
    @Test func aSlowAnswerDoesNotTimeOut() async throws {
        try await withServer(Self.impatient) { fixture in
            let (lines, http, slow) = (try fixture.connect(), try fixture.connect(), try fixture.connect())
            try await lines.send(#"{"jsonrpc":"2.0","method":"hold","id":7}"# + "\n")
            let body = #"{"jsonrpc":"2.0","method":"hold","id":8}"#
            try await http.send("POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            try await eventually("both are held") { fixture.service.begun.count == 2 }
            try await slow.send("[")
            #expect(try await slow.message()["error"]?["data"]?["reason"] == "request_timeout")
            fixture.service.gate.open()
            #expect(try await lines.message()["id"] == 7)
            #expect(try await http.answer().json?["id"] == 8)
        }
    }

    @Test(arguments: [
        "GET /heal", "GET / HTTP/1.1\r\nHost: x\r\n", "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
    ])
    func anHTTPRequestThatIsBegunAndNotEndedIsAnswered408(begun: String) async throws {
        try await withServer(Self.impatient) { fixture in
            let client = try fixture.connect()
            try await client.send(begun)
            #expect(try await client.answer().status == 408)
            #expect(try await client.readLine() == nil)
        }
    }

    @Test func theNextRequestOfAConnectionHasATimeOfItsOwn() async throws {
        try await withServer(Self.impatient) { fixture in
            let client = try fixture.connect()
            let body = #"{"jsonrpc":"2.0","method":"echo","id":1}"#
            let whole = "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            for _ in 0..<3 { #expect(try await client.exchange(whole).status == 200) }
            #expect(try await client.exchange(whole + "GET /").status == 200)
            #expect(try await client.answer().status == 408)
        }
    }

    /// A user's messages take no more memory than they may, on however many connections they are sent.
    @Test(arguments: [false, true]) func longMessagesBeyondAUsersBytesAreRefused(isPosted: Bool) async throws {
        let limits = RPCLimits.with {
            $0.messageBytes = 1 << 20
            $0.waitingBytesPerUser = 1 << 20
        }
        let service = TestService()
        try await withServer(limits, service: service) { fixture in
            let held = try fixture.connect()
            let filler = String(repeating: "x", count: 1_000_000)
            try await held.send(#"{"jsonrpc":"2.0","method":"hold","params":["\#(filler)"],"id":1}"# + "\n")
            await service.gate.arrived(1)

            let part = #"{"jsonrpc":"2.0","method":"echo","id":2,"params":[""# + filler.prefix(70_000)
            let rest = #""]}"#
            let post = "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: \((part + rest).utf8.count)\r\n\r\n"
            let other = try fixture.connect()
            try await other.send(isPosted ? post + part : part)
            let error: JSONValue?
            if isPosted {
                let answer = try await other.answer()
                #expect(answer.status == 503)
                error = answer.json?["error"]
            } else {
                error = try await other.message()["error"]
            }
            #expect(error?["data"] == ["reason": "too_much_input", "limit": 1_048_576])
            // Short messages are carried out.
            #expect(try await fixture.connect().call("echo", [1])["result"] == [1])

            service.gate.open()
            #expect(try await held.message()["result"] == "held")
            let again = try fixture.connect()
            try await again.send(isPosted ? post + part + rest : part + rest + "\n")
            #expect(isPosted ? try await again.answer().status == 200 : try await again.message()["error"] == nil)
        }
    }

    /// Also messages that arrive whole.
    @Test(arguments: [false, true]) func shorterMessagesBeyondAUsersBytesAreRefused(isPosted: Bool) async throws {
        let limits = RPCLimits.with {
            $0.messageBytes = 1 << 20
            $0.waitingBytesPerUser = 1 << 20
        }
        let service = TestService()
        try await withServer(limits, service: service) { fixture in
            func request(_ method: String, bytes: Int) -> String {
                #"{"jsonrpc":"2.0","method":"\#(method)","params":["\#(String(repeating: "x", count: bytes))"],"id":1}"#
            }
            let held = try fixture.connect()
            try await held.send(request("hold", bytes: 1_040_000) + "\n")
            await service.gate.arrived(1)
            let body = request("echo", bytes: 20_000)
            let post = "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            let other = try fixture.connect()
            try await other.send(isPosted ? post : body + "\n")
            let answer: JSONValue? = if isPosted { try await other.answer().json } else { try await other.message() }
            #expect(answer?["error"]?["data"] == ["reason": "too_much_input", "limit": 1_048_576])
            #expect(service.begun == ["hold"])
            service.gate.open()
            #expect(try await held.message()["result"] == "held")
        }
    }

    /// A user gains no memory by using several endpoints; its clients with the rights of operators count by themselves.
    @Test(arguments: [false, true]) func aUsersBytesCountOnAllEndpoints(isOtherPrivileged: Bool) async throws {
        let limits = RPCLimits.with { $0.waitingBytesPerUser = 1 << 20 }
        let turns = RequestTurns(limits)
        let request = #"{"jsonrpc":"2.0","method":"big","id":1,"params":{"bytes":2000000}}"#
        let post = "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)"
        try await withServer(limits, turns: turns) { first in
            try await withServer(limits, service: TestService(isPrivileged: isOtherPrivileged), turns: turns) { other in
                let greedy = try first.connect()
                try await greedy.send(post)
                #expect(try await greedy.head().status == 200)
                let error = try await other.connect().call("echo", [1])["error"]
                #expect(error?["data"]?["reason"]?.stringValue == (isOtherPrivileged ? nil : "too_much_unread"))
                _ = try await greedy.read(2_000_000)
                let again = try other.connect()
                try await eventually("there is room again") { try await again.call("echo")["error"] == nil }
            }
        }
    }

    /// One user has many connections and reads no answers.
    @Test func aUserThatReadsNoAnswersGetsNoFurtherAnswers() async throws {
        let limits = RPCLimits.with { $0.waitingBytesPerUser = 1 << 20 }
        try await withServer(limits) { fixture in
            let body = #"{"jsonrpc":"2.0","method":"big","id":1,"params":{"bytes":2000000}}"#
            let post = "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            let greedy = try fixture.connect()
            try await greedy.send(post)
            // It has come as far as the socket takes it.
            #expect(try await greedy.head().status == 200)
            let other = try fixture.connect()
            let refusal = try await other.call("echo")["error"]
            #expect(refusal?["data"] == ["reason": "too_much_unread", "limit": 1_048_576])
            _ = try await greedy.read(2_000_000)
            try await eventually("there is room again") { try await other.call("echo")["error"] == nil }
        }
    }
}
