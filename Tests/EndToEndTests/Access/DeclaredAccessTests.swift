import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

/// What a guest is answered is what the declarations of methods and fields say.
@Suite(.enabled(if: Guest.isPossible && Guest.curl != nil, "needs root, setpriv and curl"))
struct DeclaredAccessTests {
    private func withObjects(_ body: (DaemonFixture, Guest, AccessObjects) async throws -> Void) async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in
            let fresh = HeaderField(name: "Cache-Control", value: "max-age=600")
            return Reply(request.path.contains("gone") ? 404 : 200, headers: [fresh], text: "ok")
        }
        var options = DaemonFixture.Options()
        options.settings["hooks"] = ["own": "{argv: [/bin/true]}"]
        options.settings["webhooks"] = ["own": "{url: \"\(server.url("/hook"))\", events: []}"]
        try await withGuest(options) { daemon, guest in
            try await body(daemon, guest, try await AccessObjects(daemon, guest, server))
        }
    }

    @Test func aGuestIsRefusedExactlyTheMethodsThatAreTheOperators() async throws {
        try await withObjects { daemon, guest, objects in
            let calls = AccessCalls.methods(objects)
            let before = try await objects.operators()
            for method in MethodRegistry.all {
                let params = try #require(calls[method.name], "no call of \(method.name) in AccessCalls.methods")
                let answer = try await guest.post(method.name, params)
                let answered: Comment = "\(method.name): \(answer.text)"
                switch method.access {
                case .operators: #expect(answer.refusal == .methodOfOperators, answered)
                case .users: #expect(answer["result"] != nil, answered)
                case .owners:
                    #expect(answer.refusal?.code != Guest.Refusal.methodOfOperators.code, answered)
                    #expect(!answer.text.contains(AccessObjects.mark), answered)
                }
            }
            #expect(try await objects.operators() == before)
            #expect(Set(calls.keys).subtracting(MethodRegistry.all.map { $0.name }) == [])
        }
    }

    /// The calls name what exists, so that it is the caller who makes the difference.
    @Test func anOperatorIsRefusedNoMethod() async throws {
        try await withObjects { daemon, _, objects in
            let calls = AccessCalls.methods(objects)
            // Reading comes first, as the other calls remove what is there.
            let (reading, others) = (
                MethodRegistry.all.filter { $0.scope == .read }, MethodRegistry.all.filter { $0.scope != .read }
            )
            for method in reading + others where method.name != DaemonShutdown.name {
                let answer = try await daemon.post(method.name, try #require(calls[method.name]))
                let answered: Comment = "\(method.name): \(answer.text)"
                #expect(answer.refusal?.code != Guest.Refusal.methodOfOperators.code, answered)
                // Over HTTP a connection has no subscriptions.
                if method.scope == .read, ![EventsSubscribe.name, EventsUnsubscribe.name].contains(method.name) {
                    #expect(answer["result"] != nil, answered)
                }
            }
        }
    }

    @Test func aGuestIsRefusedTheValuesThatFieldsDeclareToBeRestricted() async throws {
        try await withObjects { daemon, guest, objects in
            let calls = AccessCalls.fields(objects)
            let declared = Self.restrictedFields
            #expect(!declared.isEmpty)
            let different = Set(calls.keys).symmetricDifference(declared.keys)
            #expect(different == [], "AccessCalls.fields has calls for exactly the restricted fields")
            for (field, access) in declared {
                for call in calls[field] ?? [] {
                    let answer = try await guest.post(call.method, call.params(objects.guestTask))
                    let answered: Comment = "\(field) in \(call.method): \(answer.text)"
                    if MethodRegistry.method(named: call.method)?.access == .operators {
                        #expect(answer.refusal == .methodOfOperators, answered)
                    } else if access == .ownUID, answer.refusal == nil {
                        #expect(!answer.text.contains(AccessObjects.mark), answered)
                    } else {
                        #expect(answer.refusal == Guest.Refusal(code: Self.code(access), path: call.path), answered)
                    }
                    let allowed = try await daemon.post(call.method, call.params(objects.task))
                    #expect(allowed["result"] != nil, "\(field) in \(call.method): \(allowed.text)")
                }
            }
        }
    }

    /// The daemon refuses no value to guests for which a field declares nothing.
    @Test func aGuestIsAnsweredAsAnOperatorWhereAFieldDeclaresNoRestriction() async throws {
        try await withObjects { daemon, guest, objects in
            for (name, field) in Self.schema("NewTask")["properties"]?.objectValue?.members ?? []
            where field["x-access"] == nil && name != "kind" {
                var params: JSONObject = ["url": .string(objects.server.url("/f")), "kind": "data", "paused": true]
                params[name] = Self.value(field)
                let answer = try await guest.post(TaskAdd.name, .object(params))
                let expected = try await daemon.post(TaskAdd.name, .object(params))
                #expect(answer.refusal == expected.refusal, "NewTask.\(name): \(answer.text), \(expected.text)")
            }
            // `after` and `after_batch` would name what is the operator's.
            for (name, field) in Self.schema("TaskChanges")["properties"]?.objectValue?.members ?? []
            where field["x-access"] == nil && !["after", "after_batch"].contains(name) {
                func params(_ task: Int64) -> JSONValue {
                    ["id": .integer(task), "changes": .object([name: Self.value(field)])]
                }
                let answer = try await guest.post(TaskUpdate.name, params(objects.guestTask))
                let expected = try await daemon.post(TaskUpdate.name, params(objects.task))
                #expect(answer.refusal == expected.refusal, "TaskChanges.\(name): \(answer.text), \(expected.text)")
            }
        }
    }

    private static func schema(_ name: String) -> JSONValue {
        OpenRPCDocument.value["components"]?["schemas"]?[name] ?? .null
    }

    /// A value of the schema: its example if it has one.
    private static func value(_ schema: JSONValue) -> JSONValue {
        if let example = schema["examples"]?.arrayValue?.first { return example }
        if let name = schema["$ref"]?.stringValue?.split(separator: "/").last {
            return value(Self.schema(String(name)))
        }
        for key in ["allOf", "anyOf", "oneOf", "enum"] {
            if let first = schema[key]?.arrayValue?.first { return key == "enum" ? first : value(first) }
        }
        switch schema["type"]?.stringValue ?? schema["type"]?.arrayValue?.first?.stringValue {
        case "integer", "number": return schema["minimum"] ?? 0
        case "string": return "x"
        case "array": return [value(schema["items"] ?? .null)]
        case "object":
            var object = JSONObject()
            for case .string(let name) in schema["required"]?.arrayValue ?? [] {
                object[name] = value(schema["properties"]?[name] ?? .null)
            }
            return .object(object)
        default: return true
        }
    }

    private static func code(_ access: FieldAccess) -> Int64 {
        switch access {
        case .operators, .ownFiles, .grantedPriority, .noProfileSecrets: -32003
        case .guestHooks: -32602
        case .ownUID: -32001
        }
    }

    /// The fields that declare a restriction, as `Record.field`.
    private static var restrictedFields: [String: FieldAccess] {
        var fields: [String: FieldAccess] = [:]
        for (record, schema) in OpenRPCDocument.value["components"]?["schemas"]?.objectValue?.members ?? [] {
            for (name, field) in schema["properties"]?.objectValue?.members ?? [] {
                fields["\(record).\(name)"] = field["x-access"]?.stringValue.flatMap(FieldAccess.init)
            }
        }
        return fields
    }
}
