import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

@Suite struct LimitTests {
    @Test func aLineOfExactlyTheLimitIsAcceptedAndOneByteMoreIsRefused() async throws {
        try await withServer(.with { $0.messageBytes = 1_000 }) { fixture in
            let frame = #"{"jsonrpc":"2.0","method":"echo","id":1,"params":["""#
            let filling = String(repeating: "x", count: 1_000 - frame.utf8.count - 3)
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","id":1,"params":["\#(filling)"]} "# + "\n")
            #expect(try await client.message()["result"] == [.string(filling)])
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","id":1,"params":["\#(filling)"]}  "# + "\n")
            let error = try await client.message()["error"]
            #expect(error?["code"] == -32600)
            #expect(error?["data"] == ["reason": "message_too_large", "limit": 1_000])
            #expect(try await client.readLine() == nil)
        }
    }

    /// The connection lives as long as the call waits; a client that had to wait so long until its bytes are taken would
    /// not get to read the refusal.
    @Test func afterARefusedMessageTheRestOfTheInputIsTakenAlthoughACallWaits() async throws {
        let service = TestService(waiting: ["hold"])
        try await withServer(.with { $0.messageBytes = 1_000 }, service: service) { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"hold","id":1}"# + "\n")
            try await client.send(String(repeating: "x", count: 4 << 20) + "\n")
            #expect(try await client.message()["error"]?["data"]?["reason"] == "message_too_large")
            service.gate.open()
            #expect(try await client.message()["result"] == "held")
            #expect(try await client.readLine() == nil)
        }
    }

    /// In memory a text of numbers takes many times its length.
    @Test func aMessageOfTooManyValuesIsRefusedAndTheConnectionKept() async throws {
        try await withServer(.with { $0.messageBytes = 10_000 }) { fixture in
            let client = try fixture.connect()
            let values = Array(repeating: "0", count: 3000).joined(separator: ",")
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","params":[\#(values)],"id":1}"# + "\n")
            let error = try await client.message()["error"]
            #expect(error?["code"] == -32600)
            #expect(error?["data"] == ["reason": "too_many_values", "limit": 80_000])
            #expect(try await client.call("echo", [1])["result"] == [1])
        }
    }

    @Test func tenMegabytesWithoutALineEndAreRefusedToAClientThatWritesFirst() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","id":1}"# + "\n" + #"{"params":""#)
            try await client.send([UInt8](repeating: UInt8(ascii: "x"), count: 10_000_000))
            var answers = [try await client.message(), try await client.message()]
            answers.sort { ($0["id"] == 1) && ($1["id"] != 1) }
            #expect(answers[0]["id"] == 1)
            #expect(answers[1]["error"]?["code"] == -32600)
            #expect(try await client.readLine() == nil)
        }
    }

    @Test func aClientThatGoesOnSendingBeyondTheLimitIsDisconnected() async throws {
        let limits = RPCLimits.with {
            $0.messageBytes = 1_000
            $0.lingering = .milliseconds(10)
        }
        try await withServer(limits) { fixture in
            let client = try fixture.connect()
            try await client.send(" " + String(repeating: "x", count: 2_000))
            #expect(try await client.message()["error"]?["code"] == -32600)
            #expect(try await client.readLine() == nil)
            try await eventually("the server has closed") { fixture.server.clientCount == 0 }
            await #expect(throws: PosixError.self) { try await client.send("x") }
        }
    }

    @Test func aRequestBegunBeforeALineThatIsTooLongIsAnswered() async throws {
        try await withServer(.with { $0.messageBytes = 1_000 }) { fixture in
            let client = try fixture.connect()
            try await client.send(
                #"{"jsonrpc":"2.0","method":"hold","id":7}"# + "\n" + String(repeating: " ", count: 1_001) + "\n")
            #expect(try await client.message()["error"]?["code"] == -32600)
            fixture.service.gate.open()
            #expect(try await client.message()["id"] == 7)
            #expect(try await client.readLine() == nil)
        }
    }

    @Test func anAnswerThatIsTooLongIsReplacedAndTheConnectionKept() async throws {
        try await withServer(.with { $0.messageBytes = 1_000 }) { fixture in
            let client = try fixture.connect()
            let error = try await client.call("big", ["bytes": 1_000])["error"]
            #expect(error?["code"] == -32600)
            #expect(error?["data"] == ["reason": "answer_too_large", "limit": 1_000])
            #expect(try await client.call("big", ["bytes": 900])["result"]?.stringValue?.count == 900)
        }
    }

    @Test func noMoreRequestsThanAllowedAreBegunAndNoneIsForgotten() async throws {
        try await withServer(.with { $0.requestsInFlight = 3 }) { fixture in
            let client = try fixture.connect()
            let requests = (0..<200).map { #"{"jsonrpc":"2.0","method":"linger","id":\#($0)}"# + "\n" }
            try await client.send(requests.joined())
            var ids: Set<Int64> = []
            for _ in 0..<200 { ids.insert(try await client.message()["id"]?.integerValue ?? -1) }
            #expect(ids == Set(0..<200))
            #expect(fixture.service.maxRunning <= 3)
        }
    }

    @Test func requestsBeyondTheLimitAreHeldBackAndOtherClientsServed() async throws {
        try await withServer(.with { $0.requestsInFlight = 2 }) { fixture in
            let busy = try fixture.connect()
            let requests = (0..<6).map { #"{"jsonrpc":"2.0","method":"hold","id":\#($0)}"# + "\n" }
            try await busy.send(requests.joined())
            await fixture.service.gate.arrived(2)
            #expect(try await fixture.connect().call("echo")["id"] == "call")
            #expect(fixture.service.begun.filter { $0 == "hold" }.count == 2)
            fixture.service.gate.open()
            for _ in 0..<6 { #expect(try await busy.message()["result"] == "held") }
        }
    }

    @Test func aClientBeyondTheLimitIsRefusedUntilThereIsRoom() async throws {
        try await withServer(.with { $0.clients = 2 }) { fixture in
            let first = try fixture.connect()
            let second = try fixture.connect()
            for client in [first, second] { _ = try await client.call("echo") }
            let silent = try fixture.connect()
            let error = try await silent.message()["error"]
            #expect(error?["code"] == -32600)
            #expect(error?["data"] == ["reason": "too_many_clients", "limit": 2])
            #expect(try await silent.readLine() == nil)

            let talking = try fixture.connect()
            #expect(try await talking.call("echo")["error"]?["data"]?["reason"] == "too_many_clients")
            let http = try fixture.connect()
            try await http.send("POST /rpc HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            #expect(try await http.readToEnd().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))

            first.disconnect()
            try await eventually("there is room again") { fixture.server.clientCount == 1 }
            #expect(try await fixture.connect().call("echo")["id"] == "call")
            #expect(try await second.call("echo")["id"] == "call")
        }
    }

    @Test func aPeerWithoutAccessIsRefusedWithTheReason() async throws {
        let service = TestService(refusing: RPCError(-32003, "not you"))
        try await withServer(service: service) { fixture in
            let client = try fixture.connect()
            let answer = try await client.call("echo")
            #expect(answer["error"] == ["code": -32003, "message": "not you"])
            #expect(try await client.readLine() == nil)
            let http = try fixture.connect()
            try await http.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try await http.readToEnd().hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            #expect(service.begun.isEmpty)
            #expect(fixture.server.clientCount == 0)
        }
    }
}
