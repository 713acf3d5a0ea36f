import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

@Suite struct BatchTests {
    /// The examples of the specification, section 7.
    @Test func theBatchExamplesOfTheSpecificationAreAnsweredAsThere() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send("[1,2,3]\n")
            let three = try await client.message()
            #expect(three.arrayValue?.map { $0["error"]?["code"] } == [-32600, -32600, -32600])
            #expect(three.arrayValue?.map { $0["id"] } == [.null, .null, .null])

            try await client.send(
                #"[{"jsonrpc":"2.0","method":"echo","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method":"echo"},"#
                    + #"{"jsonrpc":"2.0","method":"echo","params":[42,23],"id":"2"},{"foo":"boo"},"#
                    + #"{"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"}]"# + "\n")
            let mixed = try await client.message().arrayValue ?? []
            #expect(mixed.map { $0["id"] } == ["1", "2", .null, "5"])
            #expect(mixed.map { $0["error"]?["code"] } == [nil, nil, -32600, -32601])

            try await client.send(#"[{"jsonrpc":"2.0","method":"sum"},{"jsonrpc":"2.0","method":"get"}]"# + "\n")
            #expect(try await client.call("echo")["id"] == "call")
        }
    }

    @Test func aBatchIsAnsweredInTheOrderOfItsRequests() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(Self.batch(count: 500) { $0 % 7 == 0 ? "linger" : "echo" })
            let ids = try await client.message().arrayValue?.compactMap { $0["id"]?.integerValue }
            #expect(ids == Array(0..<500))
        }
    }

    @Test func aBatchOfMoreRequestsThanAllowedIsRefused() async throws {
        try await withServer(.with { $0.batchRequests = 3 }) { fixture in
            let client = try fixture.connect()
            try await client.send(Self.batch(count: 3) { _ in "echo" })
            #expect(try await client.message().arrayValue?.count == 3)
            try await client.send(Self.batch(count: 4) { _ in "echo" })
            let error = try await client.message()["error"]
            #expect(error?["code"] == -32600)
            #expect(error?["data"] == ["reason": "batch_too_large", "limit": 3])
            #expect(fixture.service.begun.count == 3)
        }
    }

    @Test func aBatchRunsNoMoreRequestsAtATimeThanOneClientMay() async throws {
        try await withServer(.with { $0.requestsInFlight = 4 }) { fixture in
            let client = try fixture.connect()
            let single = (0..<10).map { #"{"jsonrpc":"2.0","method":"linger","id":\#($0)}"# + "\n" }.joined()
            try await client.send(single + Self.batch(count: 100) { _ in "linger" } + single)
            for _ in 0..<21 { _ = try await client.message() }
            #expect(fixture.service.begun.count == 120)
            #expect(fixture.service.maxRunning <= 4)
            #expect(fixture.service.maxRunning > 1)
        }
    }

    @Test func aBatchReplacesAnswersThatDoNotFit() async throws {
        try await withServer(.with { $0.messageBytes = 20_000 }) { fixture in
            let client = try fixture.connect()
            let requests = (0..<20).map {
                #"{"jsonrpc":"2.0","method":"big","params":{"bytes":2000},"id":\#($0)}"#
            }
            try await client.send("[" + requests.joined(separator: ",") + "]\n")
            let line = try await client.readLine() ?? ""
            #expect(line.utf8.count <= 20_000)
            let answers = try JSONValue(parsing: line).arrayValue ?? []
            #expect(answers.map { $0["id"] } == (0..<20).map { .integer($0) })
            let refused = answers.filter { $0["error"]?["data"]?["reason"] == "answer_too_large" }
            #expect(!refused.isEmpty)
            #expect(refused.count < 20)
            #expect(fixture.service.begun.count == 20)
        }
    }

    private static func batch(count: Int, method: (Int) -> String) -> String {
        let requests = (0..<count).map { #"{"jsonrpc":"2.0","method":"\#(method($0))","id":\#($0)}"# }
        return "[" + requests.joined(separator: ",") + "]\n"
    }
}
