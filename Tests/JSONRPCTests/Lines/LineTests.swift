import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

@Suite struct LineTests {
    @Test(arguments: [
        (#""a""#, #""a""#), ("1", "1"), ("-7", "-7"), ("null", "null"), ("1.5", "1.5"), (#""é\n""#, #""é\n""#),
        ("9223372036854775807", "9223372036854775807"),
    ])
    func anAnswerCarriesTheIDOfItsRequestVerbatim(sent: String, received: String) async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","params":[1,{"a":"b"}],"id":\#(sent)}"# + "\n")
            #expect(try await client.readLine() == #"{"jsonrpc":"2.0","result":[1,{"a":"b"}],"id":\#(received)}"#)
        }
    }

    @Test(arguments: ["", #","params":null"#, #","params":[]"#, #", "params" : [ ]"#])
    func emptyParametersCountAsNone(params: String) async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let request = #"{"jsonrpc":"2.0","method":"echo"\#(params),"id":1}"#
            try await client.send(request + "\n")
            #expect(try await client.readLine() == #"{"jsonrpc":"2.0","result":null,"id":1}"#)
            try await client.send("[" + request + "]\n")
            #expect(try await client.readLine() == #"[{"jsonrpc":"2.0","result":null,"id":1}]"#)
        }
    }

    @Test func aNotificationIsCarriedOutAndNotAnswered() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"fail"}"# + "\n")
            try await client.send(#"{"jsonrpc":"2.0","method":"nowhere","params":{}}"# + "\n")
            #expect(try await client.call("echo")["result"] == .null)
            try await eventually("the notifications were carried out") { fixture.service.begun.contains("nowhere") }
            #expect(fixture.service.begun.contains("fail"))
        }
    }

    @Test func anErrorOfTheServiceIsPassedOn() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            #expect(
                try await client.call("fail") == [
                    "jsonrpc": "2.0", "id": "call",
                    "error": ["code": -32001, "message": "no such thing", "data": ["reason": "not_found"]],
                ])
            #expect(try await client.call("nowhere")["error"]?["code"] == -32601)
        }
    }

    @Test func anEncodedResultIsSentVerbatim() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            #expect(try await client.call("encoded")["result"] == ["ready": true])
            #expect(try await client.call("broken")["error"]?["code"] == -32603)
        }
    }

    @Test func blankLinesAreSkippedAndEitherLineEndIsAccepted() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send("\n  \r\n\t\n" + #"{"jsonrpc":"2.0","method":"echo","id":1}"# + "\r\n \n")
            try await client.send(#" {"jsonrpc":"2.0","method":"echo","id":2} "# + "\n")
            let ids = [try await client.message()["id"], try await client.message()["id"]]
            #expect(Set(ids) == [1, 2])
        }
    }

    @Test func pipelinedRequestsAreAnsweredAsTheyFinish() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(
                #"{"jsonrpc":"2.0","method":"hold","id":1}"# + "\n" + #"{"jsonrpc":"2.0","method":"echo","id":2}"#
                    + "\n")
            #expect(try await client.message()["id"] == 2)
            fixture.service.gate.open()
            #expect(try await client.message()["id"] == 1)
        }
    }

    @Test func aThousandPipelinedRequestsAreAnsweredOnceEach() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let requests = (0..<1_000).map { #"{"jsonrpc":"2.0","method":"echo","params":[\#($0)],"id":\#($0)}"# }
            try await client.send(requests.joined(separator: "\n") + "\n")
            var ids: Set<Int64> = []
            for _ in 0..<1_000 {
                let answer = try await client.message()
                #expect(answer["result"]?.arrayValue?.first == answer["id"])
                ids.insert(answer["id"]?.integerValue ?? -1)
            }
            #expect(ids == Set(0..<1_000))
        }
    }

    @Test func linesSplitAnywhereAreAnswered() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            for byte in (#"{"jsonrpc":"2.0","method":"echo","params":["é"],"id":1}"# + "\n").utf8 {
                try await client.send([byte])
            }
            #expect(try await client.message()["result"] == ["é"])
        }
    }

    @Test func aHalfLineBeforeADisconnectIsIgnored() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","id":1}"# + "\n" + #"{"jsonrpc":"2.0","meth"#)
            client.finishSending()
            #expect(try await client.message()["id"] == 1)
            #expect(try await client.readToEnd() == "")
            #expect(fixture.service.begun == ["echo"])
        }
    }

    @Test func aCompleteLastLineWithoutALineEndIsAnswered() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"hold","id":1}"#)
            client.finishSending()
            await fixture.service.gate.arrived()
            fixture.service.gate.open()
            #expect(try await client.message()["id"] == 1)
            #expect(try await client.readLine() == nil)
        }
    }

    @Test func theServiceReceivesTheCredentialsOfItsPeer() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            #expect(try await client.call("peer")["result"] == .integer(Int64(CurrentProcess.userID)))
            let peer = try await fixture.connection().peer
            #expect(peer.processID == CurrentProcess.id)
            #expect(peer.groupID == CurrentProcess.groupID)
            #expect(Set(peer.supplementaryGroupIDs) == CurrentProcess.supplementaryGroupIDs)
        }
    }

    @Test func callsOfADisconnectedClientAreCancelled() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"hold","id":1}"# + "\n")
            await fixture.service.gate.arrived()
            client.disconnect()
            try await eventually("the call was cancelled") { fixture.service.cancelled == 1 }
        }
    }

    @Test func aNotificationIsCarriedOutAfterItsClientDisconnects() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"hold"}"# + "\n")
            await fixture.service.gate.arrived()
            let connection = try await fixture.connection()
            client.disconnect()
            try await eventually("the connection is gone") { !connection.isOpen && fixture.server.clientCount == 0 }
            fixture.service.gate.open()
            try await eventually("the call has ended") { fixture.service.released + fixture.service.cancelled == 1 }
            #expect(fixture.service.cancelled == 0)
        }
    }
}
