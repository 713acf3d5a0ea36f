import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

/// What is no request is answered, named, and does no harm to the connection.
@Suite struct MalformedLineTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let line: String
        let code: Int64
        let reason: String
        var path: String?
        var id = JSONValue.null
        var testDescription: String { line }
    }

    @Test(arguments: [
        Fault(line: #"{"jsonrpc":"2.0","method":"echo","id":1"#, code: -32700, reason: "parse_error"),
        Fault(line: "{]", code: -32700, reason: "parse_error"),
        Fault(line: #"{"jsonrpc":"2.0","method":"echo","id":1} x"#, code: -32700, reason: "parse_error"),
        Fault(line: #"{"id":01}"#, code: -32700, reason: "parse_error", path: "id"),
        Fault(line: #"{"params":{"s":"\ud800"}}"#, code: -32700, reason: "parse_error", path: "s"),
        Fault(line: #"{"id":1,"id":1}"#, code: -32700, reason: "duplicate_key", path: "id"),
        Fault(line: #"{"params":{"url":1,"url":2}}"#, code: -32700, reason: "duplicate_key", path: "url"),
        Fault(
            line: #"{"params":{"tasks":[{"a":{"b":1,"b":2}}]}}"#, code: -32700, reason: "duplicate_key",
            path: "tasks[0].a.b"),
        Fault(line: #"{"method":"echo","id":1}"#, code: -32600, reason: "invalid_request", path: "jsonrpc", id: 1),
        Fault(
            line: #"{"jsonrpc":2.0,"method":"echo","id":1}"#, code: -32600, reason: "invalid_request", path: "jsonrpc",
            id: 1),
        Fault(line: #"{"jsonrpc":"1.0","method":"echo"}"#, code: -32600, reason: "invalid_request", path: "jsonrpc"),
        Fault(line: #"{"jsonrpc":"2.0","id":"x"}"#, code: -32600, reason: "invalid_request", path: "method", id: "x"),
        Fault(
            line: #"{"jsonrpc":"2.0","method":1,"id":"x"}"#, code: -32600, reason: "invalid_request", path: "method",
            id: "x"),
        Fault(
            line: #"{"jsonrpc":"2.0","method":"echo","params":"bar","id":2}"#, code: -32600, reason: "invalid_request",
            path: "params", id: 2),
        Fault(
            line: #"{"jsonrpc":"2.0","method":"echo","params":false,"id":2}"#, code: -32600, reason: "invalid_request",
            path: "params", id: 2),
        Fault(
            line: #"{"jsonrpc":"2.0","method":"echo","param":{},"id":2}"#, code: -32600, reason: "invalid_request",
            path: "param", id: 2),
        Fault(
            line: #"{"jsonrpc":"2.0","result":1,"id":2}"#, code: -32600, reason: "invalid_request", path: "method",
            id: 2),
        Fault(
            line: #"{"jsonrpc":"2.0","method":"echo","id":true}"#, code: -32600, reason: "invalid_request", path: "id"),
        Fault(line: #"{"jsonrpc":"2.0","method":"echo","id":{}}"#, code: -32600, reason: "invalid_request", path: "id"),
        Fault(line: #" "text""#, code: -32600, reason: "invalid_request"),
        Fault(line: " 17", code: -32600, reason: "invalid_request"),
        Fault(line: "[]", code: -32600, reason: "empty_batch"),
    ])
    func aMalformedLineIsAnsweredAndTheConnectionKept(fault: Fault) async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(fault.line + "\n")
            let answer = try await client.message()
            #expect(answer["error"]?["code"] == .integer(fault.code))
            #expect(answer["error"]?["data"]?["reason"] == .string(fault.reason))
            #expect(answer["error"]?["data"]?["path"]?.stringValue == fault.path)
            #expect(answer["id"] == fault.id)
            #expect(try await client.call("echo")["id"] == "call")
            #expect(fixture.service.begun == ["echo"])
        }
    }

    @Test(arguments: ["12345678901234567890", "1.50", "-0"])
    func anIDIsAnsweredAsItWasWritten(id: String) async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","id":\#(id)}"# + "\n")
            #expect(try await client.message()["id"]?.text == id)
        }
    }

    @Test func invalidUTF8IsAParseErrorThatNamesItsOffset() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(Array(#"{"params":{"s":""#.utf8) + [0xC3, 0x28] + Array("\"}}\n".utf8))
            let error = try await client.message()["error"]
            #expect(error?["code"] == -32700)
            #expect(error?["data"] == ["reason": "invalid_utf8", "path": "s"])
            #expect(try await client.call("echo")["id"] == "call")
        }
    }

    @Test func nestingIsLimitedOverTheWholeMessage() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let deepest = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","params":\#(deepest),"id":1}"# + "\n")
            #expect(try await client.message()["id"] == 1)
            try await client.send(#"{"jsonrpc":"2.0","method":"echo","params":[\#(deepest)],"id":1}"# + "\n")
            let error = try await client.message()["error"]
            #expect(error?["code"] == -32600)
            #expect(error?["data"]?["reason"] == "too_deep")
            #expect(error?["data"]?["limit"] == 64)
            #expect(try await client.call("echo")["id"] == "call")
        }
    }
}
