import Foundation
import StrictJSON
import Testing
import XferProtocol

/// The published document: current, of the right form, and true of its own examples.
struct OpenRPCDocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let published = root.appending(path: "rpc-schema/openrpc.json")

    /// `XFER_UPDATE_SCHEMA=1 swift test --filter OpenRPCDocumentTests` writes the file again.
    @Test func thePublishedDocumentIsTheGeneratedOne() throws {
        if ProcessInfo.processInfo.environment["XFER_UPDATE_SCHEMA"] == "1" {
            try Data(OpenRPCDocument.text.utf8).write(to: Self.published)
        }
        let text = try String(contentsOf: Self.published, encoding: .utf8)
        #expect(
            text == OpenRPCDocument.text,
            "rpc-schema/openrpc.json is stale: xferd --print-schema > rpc-schema/openrpc.json")
    }

    @Test func theDocumentParsesToItself() throws {
        #expect(try JSONValue(parsing: OpenRPCDocument.text.utf8) == OpenRPCDocument.value)
    }

    @Test func theDocumentAndItsExamplesAreValid() throws {
        let outcome = try validate(["--document", Self.published.path])
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func everyReferenceHasATarget() throws {
        let schemas = try #require(OpenRPCDocument.value["components"]?["schemas"]?.objectValue)
        let errors = try #require(OpenRPCDocument.value["components"]?["errors"]?.objectValue)
        func check(_ value: JSONValue) {
            switch value {
            case .array(let elements): elements.forEach(check)
            case .object(let object):
                if let reference = object["$ref"]?.stringValue {
                    let name = String(reference.split(separator: "/").last ?? "")
                    let target = reference.hasPrefix("#/components/errors/") ? errors[name] : schemas[name]
                    #expect(target != nil, "\(reference) leads nowhere")
                }
                object.members.forEach { check($0.value) }
            default: break
            }
        }
        check(OpenRPCDocument.value)
    }

    /// A number without bounds is one the daemon's arithmetic can overflow with.
    @Test func everyNumberHasAMinimumAndAMaximum() throws {
        var unbounded: [String] = []
        func bound(_ schema: JSONObject, _ key: String) -> Double? {
            switch schema[key] {
            case .integer(let value): Double(value)
            case .number(let number): number.value
            default: nil
            }
        }
        func check(_ value: JSONValue, _ path: String) {
            switch value {
            case .array(let elements):
                for (index, element) in elements.enumerated() { check(element, "\(path)[\(index)]") }
            case .object(let object):
                let types = object["type"]?.arrayValue ?? object["type"].map { [$0] } ?? []
                if types.contains("integer") || types.contains("number") {
                    let (least, most) = (bound(object, "minimum"), bound(object, "maximum"))
                    let isBounded = least.map { $0 >= -0x1p60 } ?? false && most.map { $0 <= 0x1p60 } ?? false
                    if !isBounded { unbounded.append(path) }
                }
                for (key, value) in object.members { check(value, "\(path).\(key)") }
            default: break
            }
        }
        check(OpenRPCDocument.value["methods"] ?? .null, "methods")
        check(OpenRPCDocument.value["components"] ?? .null, "components")
        check(OpenRPCDocument.value["x-events"] ?? .null, "x-events")
        #expect(unbounded == [])
    }

    // MARK: Recorded messages

    @Test func aTranscriptThatKeepsToTheDocumentPasses() throws {
        let outcome = try validate(transcript: [
            #"{"direction":"request","method":"task.get","message":{"jsonrpc":"2.0","id":1,"method":"task.get","params":{"id":3}}}"#,
            #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":1,"result":{"task":{"id":3,"state":"queued"}}}}"#,
            #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"there is no task 9","data":{"reason":"not_found"}}}}"#,
            #"{"direction":"notification","method":"event","message":{"jsonrpc":"2.0","method":"event","params":{"seq":5,"time":"2026-01-02T03:04:05.678Z","type":"task.cancelled","task_id":3,"owner":1000,"prev_seq":4,"subscription":1,"terminal":true,"state":"cancelled"}}}"#,
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    /// Requests may be wrong on purpose; then their answer has to be an error.
    @Test func aRefusedRequestMayBreakTheDocument() throws {
        let outcome = try validate(transcript: [
            #"{"direction":"request","method":"task.get","message":{"jsonrpc":"2.0","id":1,"method":"task.get","params":{"idd":3}}}"#,
            #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"idd: unknown field","data":{"reason":"unknown_field","path":"idd","expected":"id"}}}}"#,
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test(arguments: [
        // A result with a field that the document does not know.
        #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":1,"result":{"task":{"id":3,"statte":"queued"}}}}"#,
        // A result with a wrong type.
        #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"3"}}}}"#,
        // A method that does not exist.
        #"{"direction":"response","method":"task.gett","message":{"jsonrpc":"2.0","id":1,"result":{}}}"#,
        // An error code that the document does not know.
        #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}}"#,
        // An event of unknown type.
        #"{"direction":"notification","method":"event","message":{"jsonrpc":"2.0","method":"event","params":{"time":"2026-01-02T03:04:05.678Z","type":"task.lost"}}}"#,
        // Neither result nor error.
        #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":1}}"#,
        // Not JSON.
        #"{"direction":"response""#,
    ])
    func aTranscriptThatBreaksTheDocumentFails(line: String) throws {
        let outcome = try validate(transcript: [line])
        #expect(outcome.status == 1, "\(outcome.output)")
    }

    @Test func aWrongRequestThatWasAcceptedFailsTheValidation() throws {
        let outcome = try validate(transcript: [
            #"{"direction":"request","method":"task.get","message":{"jsonrpc":"2.0","id":1,"method":"task.get","params":{"id":3,"x":1}}}"#,
            #"{"direction":"response","method":"task.get","message":{"jsonrpc":"2.0","id":1,"result":{"task":{"id":3}}}}"#,
        ])
        #expect(outcome.status == 1, "\(outcome.output)")
    }

    // MARK: Running the validator

    private func validate(transcript lines: [String]) throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: "transcript-\(UUID().uuidString).ndjson")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        return try validate(["--document", Self.published.path, "--transcript", file.path])
    }

    private func validate(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        // Debian's python, where python3-jsonschema is installed.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [Self.root.appending(path: "rpc-schema/validate.py").path] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
