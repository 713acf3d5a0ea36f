import Foundation
import StrictJSON
import Testing
import XferProtocol

/// The RPC surface only grows: clients of the surface at commit c4c9e240 work with this one.
///
/// The fixture has the methods, events, errors and schemas of that commit's `rpc-schema/openrpc.json` without texts, and
/// its examples: requests with their results.
struct SurfaceGrowthTests {
    private static func fixtureText() throws -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: tests.appending(path: "Fixtures/openrpc-c4c9e240.json"), encoding: .utf8)
    }

    @Test func clientsOfTheEarlierSurfaceWorkWithThisOne() throws {
        let fixture = try JSONValue(parsing: Self.fixtureText().utf8)
        #expect(fixture["methods"]?.arrayValue?.count == 58)
        #expect(try Self.problems(of: OpenRPCDocument.value, after: fixture) == [])
    }

    @Test func requestsAndResultsOfTheEarlierSurfaceAreUnderstood() throws {
        func replay<Method: RPCMethod>(_ method: Method.Type, _ example: JSONValue) throws {
            _ = try Method.Params(strict: try #require(example["params"]))
            let result = try #require(example["result"])
            var read = try Method.Result(lenient: result).wire
            // It was left out of the last page of some lists.
            if result["next_cursor"] == nil, case .object(var members) = read {
                members["next_cursor"] = nil
                read = .object(members)
            }
            #expect(read == result, "\(Method.name)")
        }
        let fixture = try JSONValue(parsing: Self.fixtureText().utf8)
        for method in fixture["methods"]?.arrayValue ?? [] {
            let type = try #require(MethodRegistry.method(named: method["name"]?.stringValue ?? ""))
            for example in method["examples"]?.arrayValue ?? [] { try replay(type, example) }
        }
    }

    /// The earlier surface is made to offer more than this one does.
    @Test(arguments: [
        (#"{"name":"task.get","#, #"{"name":"task.got","#, "task.got: removed"),
        (#"{"name":"task.started","#, #"{"name":"task.begun","#, "task.begun: removed"),
        (
            #""GroupListParams":{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":1000}"#,
            #""GroupListParams":{"type":"object","properties":{"limit":{"type":"integer","minimum":0,"maximum":1001}"#,
            "group.list().limit: minimum; group.list().limit: maximum"
        ),
        (
            #""QueuePauseParams":{"type":"object","properties":{"running":{"type":"boolean"}"#,
            #""QueuePauseParams":{"type":"object","properties":{"running":{"type":["boolean","null"]}"#,
            "queue.pause().running: type"
        ),
        (
            #""QueuePauseParams":{"type":"object","properties":{"#,
            #""QueuePauseParams":{"type":"object","properties":{"gently":{"type":"boolean"},"#,
            "queue.pause().gently: removed"
        ),
        (#""required":["subscription"],"#, "", "events.unsubscribe().subscription: demanded"),
        (
            #""EventsSubscribeResult":{"type":"object","properties":{"#,
            #""EventsSubscribeResult":{"type":"object","properties":{"first_time":{"type":"integer"},"#,
            "events.subscribe result.first_time: removed"
        ),
        (
            #"{"name":"queue.stats","x-access":"operators""#, #"{"name":"queue.stats","x-access":"users""#,
            "queue.stats: access"
        ),
        (#""not_found": -32001"#, #""not_found": -32099"#, "error not_found: code"),
    ])
    func aSurfaceThatOffersLessIsReported(present: String, offered: String, problems: String) throws {
        let text = try Self.fixtureText()
        #expect(text.contains(present))
        let fixture = try JSONValue(parsing: text.replacing(present, with: offered).utf8)
        #expect(try Self.problems(of: OpenRPCDocument.value, after: fixture).joined(separator: "; ") == problems)
    }

    // MARK: Releases

    private static let releases = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "rpc-schema/releases")

    /// Every document that was released is kept in `rpc-schema/releases`.
    @Test func clientsOfEveryReleaseWorkWithThisSurface() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.releases.path)
        #expect(names.contains("1.0.0-rc.1.json"))
        for name in names {
            let released = try Self.release(name)
            let methods = released["methods"]?.arrayValue ?? []
            #expect(methods.count >= 58, "\(name)")
            #expect(try Self.problems(of: OpenRPCDocument.value, after: released) == [], "since \(name)")
        }
    }

    @Test(arguments: [
        (#""name": "task.get","#, #""name": "task.got","#, "task.got: removed"),
        (#""x-scope": "own""#, #""x-scope": "read""#, "scope"),
        (#""maximum": 10000"#, #""maximum": 10001"#, "maximum"),
    ])
    func aReleaseThatOfferedMoreIsReported(present: String, offered: String, problem: String) throws {
        let text = try String(contentsOf: Self.releases.appending(path: "1.0.0-rc.1.json"), encoding: .utf8)
        #expect(text.contains(present))
        let released = Self.surface(of: try JSONValue(parsing: text.replacing(present, with: offered).utf8))
        let problems = try Self.problems(of: OpenRPCDocument.value, after: released)
        #expect(problems.contains { $0.hasSuffix(problem) }, "\(problems)")
    }

    private static func release(_ name: String) throws -> JSONValue {
        let text = try String(contentsOf: releases.appending(path: name), encoding: .utf8)
        return surface(of: try JSONValue(parsing: text.utf8))
    }

    /// A whole document in the form of the fixture.
    private static func surface(of document: JSONValue) -> JSONValue {
        let prefix = "#/components/errors/"
        let methods = (document["methods"]?.arrayValue ?? []).map { method -> JSONValue in
            var plain = JSONObject()
            for key in ["name", "x-access", "x-scope"] { plain[key] = method[key] }
            plain["params"] = method["x-params-schema"]
            plain["result"] = method["result"]?["schema"]
            plain["errors"] = .array(
                (method["errors"]?.arrayValue ?? []).compactMap { $0["$ref"]?.stringValue }.map {
                    .string(String($0.dropFirst(prefix.count)))
                })
            return .object(plain)
        }
        var errors = JSONObject()
        for (name, error) in document["components"]?["errors"]?.objectValue?.members ?? [] {
            errors[name] = error["code"]
        }
        return [
            "methods": .array(methods), "events": document["x-events"]?["types"] ?? [], "errors": .object(errors),
            "schemas": document["components"]?["schemas"] ?? [:],
        ]
    }

    // MARK: The comparison

    private static func problems(of document: JSONValue, after fixture: JSONValue) throws -> [String] {
        let components = try #require(document["components"])
        var comparison = SchemaComparison(
            older: sent(try #require(fixture["schemas"])), newer: try #require(components["schemas"]))
        var problems: [String] = []
        for (name, code) in fixture["errors"]?.objectValue?.members ?? []
        where components["errors"]?[name]?["code"] != code {
            problems.append("error \(name): code")
        }
        let methods = named(document["methods"])
        for method in fixture["methods"]?.arrayValue ?? [] {
            let name = method["name"]?.stringValue ?? ""
            guard let present = methods[name] else {
                problems.append("\(name): removed")
                continue
            }
            problems += comparison.problems(
                method["params"] ?? [:], present["x-params-schema"] ?? [:], at: "\(name)()", .input)
            problems += comparison.problems(
                method["result"] ?? [:], present["result"]?["schema"] ?? [:], at: "\(name) result", .output)
            problems += accessProblems(method, present, name)
        }
        let events = named(document["x-events"]?["types"])
        for event in fixture["events"]?.arrayValue ?? [] {
            let name = event["name"]?.stringValue ?? ""
            guard let present = events[name] else {
                problems.append("\(name): removed")
                continue
            }
            for key in ["durable", "terminal"] where event[key] != present[key] { problems.append("\(name): \(key)") }
            problems += comparison.problems(event["schema"] ?? [:], present["schema"] ?? [:], at: name, .output)
        }
        return problems.filter { !intended.contains($0) }
    }

    /// Changes before 1.0 that CHANGELOG.md lists: `task.wait` lists ids that are gone in `missing`.
    private static let intended: Set = ["task.wait: error not_found"]

    /// Words of earlier schemas that no daemon has ever sent, by the names of the schemas.
    private static let neverSent = ["WaitReason": "clock"]

    /// The schemas without those words.
    private static func sent(_ schemas: JSONValue) -> JSONValue {
        guard case .object(var named) = schemas else { return schemas }
        for (name, word) in neverSent {
            guard case .object(var schema)? = named[name], let words = schema["enum"]?.arrayValue else { continue }
            schema["enum"] = .array(words.filter { $0.stringValue != word })
            named[name] = .object(schema)
        }
        return .object(named)
    }

    /// Errors that are no longer said, and callers that are no longer allowed.
    private static func accessProblems(_ method: JSONValue, _ present: JSONValue, _ name: String) -> [String] {
        let references = (present["errors"]?.arrayValue ?? []).compactMap { $0["$ref"]?.stringValue }
        let removed = (method["errors"]?.arrayValue ?? []).compactMap(\.stringValue)
            .filter { !references.contains("#/components/errors/\($0)") }
        let order = MethodAccess.allCases.map(\.rawValue)
        func rank(_ method: JSONValue) -> Int? { method["x-access"]?.stringValue.flatMap { order.firstIndex(of: $0) } }
        let isNarrower = rank(present) ?? .max > rank(method) ?? .max
        let hasOtherScope = method["x-scope"].map { $0 != present["x-scope"] } ?? false
        return removed.map { "\(name): error \($0)" } + (isNarrower ? ["\(name): access"] : [])
            + (hasOtherScope ? ["\(name): scope"] : [])
    }

    private static func named(_ list: JSONValue?) -> [String: JSONValue] {
        Dictionary((list?.arrayValue ?? []).map { ($0["name"]?.stringValue ?? "", $0) }) { first, _ in first }
    }
}
