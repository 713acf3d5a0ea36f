import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

/// A walk over the RPC document: every method is called with each bounded parameter, and each bounded member of a
/// parameter that is an object, at its bound and one beyond it.
///
/// What the schema allows is carried out or refused for a reason of its own; one beyond is refused by the parameter's
/// name; nothing is too much for the daemon.
@Suite struct BoundWalkTests {
    /// The largest id, which no task and no other object has.
    private static let unusedID: JSONValue = 9_007_199_254_740_991

    /// Parameters for a call of each method that ends at once, whatever one bounded parameter is. Arrays have an
    /// element that is repeated. A new method needs a row.
    private static let rows: [String: JSONValue] = [
        "task.add": ["url": "http://127.0.0.1:9/a", "kind": "data", "paused": true], "task.get": ["id": unusedID],
        "task.list": [:], "task.count": [:],
        "task.wait": ["ids": [unusedID], "timeout": 0], "task.pause": ["ids": [unusedID]],
        "task.resume": ["ids": [unusedID]], "task.cancel": ["ids": [unusedID]], "task.retry": ["ids": [unusedID]],
        "task.remove": ["ids": [unusedID]], "task.update": ["id": unusedID, "changes": ["label": "a"]],
        "task.update_many": ["filter": ["ids": [unusedID]], "changes": ["label": "a"]],
        "task.move": ["ids": [unusedID], "to": "top"],
        "task.set_source": ["id": unusedID, "url": "http://127.0.0.1:9/a"],
        "task.record_digest": ["id": unusedID, "digest": "md5=900150983cd24fb0d6963f7d28e17f72"],
        "task.commit": ["ids": [unusedID]], "task.read": ["id": unusedID], "task.result": ["id": unusedID],
        "operation.get": ["id": unusedID], "operation.list": [:], "operation.cancel": ["id": unusedID],
        "queue.stats": [:], "queue.pause": [:], "queue.resume": [:], "queue.set_limits": [:],
        "queue.hosts": [:], "queue.set_host": ["host": "a.test", "connections": 1],
        "batch.add": ["tasks": ["http://127.0.0.1:9/b"], "options": ["kind": "data", "paused": true]],
        "batch.get": ["id": unusedID], "batch.list": [:], "group.list": [:], "group.get": ["name": "a"],
        "group.pause": ["name": "a"],
        "group.resume": ["name": "a"], "group.set": ["name": "a", "max_active": 1], "group.remove": ["name": "a"],
        "slot.get": ["slot": "a"], "slot.detach": ["slot": "a"], "slot.cancel": ["slot": "a"],
        "cache.stats": [:], "cache.list": [:], "cache.get": ["id": unusedID], "cache.remove": ["ids": [unusedID]],
        "cache.put": ["url": "http://127.0.0.1:9/d", "file": "/nonexistent/a"],
        "cache.clear": [:], "cache.trim": ["max_bytes": 1],
        "failed_url.list": [:], "failed_url.remove": ["ids": [unusedID]], "failed_url.clear": [:],
        "hsts.list": [:], "hsts.clear": ["hosts": ["a.test"]],
        "policy.list": [:], "policy.get": ["name": "a"], "policy.remove": ["name": "a"],
        "policy.set": ["policy": ["name": "a", "hosts": ["a.test"], "mode": "none"]],
        "policy.test": ["url": "https://127.0.0.1:9/"], "policy.pin": ["host": "127.0.0.1", "port": 9],
        "profile.list": [:], "profile.get": ["name": "a"], "profile.set": ["profile": ["name": "a"]],
        "profile.remove": ["name": "a"], "hook.list": [:], "webhook.list": [:], "webhook.test": ["name": "a"],
        "events.subscribe": [:], "events.unsubscribe": ["subscription": 1], "events.since": ["seq": 0],
        "network.status": [:], "lease.renew": ["name": "a", "until": 0],
        "token.add": ["name": "a", "scope": "read"], "token.list": [:], "token.revoke": ["name": "a"],
        "daemon.status": [:], "daemon.config": [:], "daemon.shutdown": [:],
        "daemon.backup": ["file": "/nonexistent/a"], "rpc.discover": [:],
    ]

    /// One parameter, or one member of it, at a bound and one beyond it.
    private struct Bound: CustomStringConvertible {
        let method: String
        let field: String
        let member: String?
        let within: JSONValue
        let beyond: JSONValue

        /// The path in errors.
        var parameter: String { member.map { "\(field).\($0)" } ?? field }

        var description: String { "\(method) \(parameter)" }
    }

    @Test func everyMethodHasARow() {
        #expect(Set(Self.rows.keys) == Set(MethodRegistry.all.map { $0.name }))
    }

    @Test func whatTheSchemaAllowsIsAnsweredAndOneMoreIsRefusedByItsName() async throws {
        let bounds = try Self.bounds()
        // Fewer means that the walk no longer finds them.
        #expect(bounds.count { $0.member == nil } > 100 && bounds.count { $0.member != nil } > 100)
        try await withDaemon { daemon in
            let session = try daemon.session()
            for bound in bounds {
                guard case .object(var params) = try #require(Self.rows[bound.method]) else { continue }
                // Of two parameters that exclude each other the row has one.
                if bound.field == "tasks", bound.method == "task.add" { params = JSONObject() }
                if bound.field == "url" { params["ids"] = nil }
                params[bound.field] = bound.within
                if let refusal = await Self.refusal(of: bound.method, params, session) {
                    let isByTheBound = refusal.reason == "out_of_range" && refusal.path == bound.parameter
                    #expect(!isByTheBound && refusal.code != -32603, "\(bound): \(refusal.description.prefix(300))")
                    #expect(refusal.reason != "answer_too_large", "\(bound)")
                }
                params[bound.field] = bound.beyond
                let refusal = await Self.refusal(of: bound.method, params, session)
                #expect(
                    refusal?.code == -32602 && refusal?.path?.hasPrefix(bound.parameter) == true,
                    "\(bound) beyond: \(refusal?.description.prefix(300) ?? "accepted")")
            }
            #expect(try await session.call("daemon.status")["pid"] != nil)
        }
    }

    private static func refusal(of method: String, _ params: JSONObject, _ session: RPCSession) async -> RPCRefusal? {
        do {
            _ = try await session.call(method, .object(params))
            return nil
        } catch let refusal as RPCRefusal {
            return refusal
        } catch {
            Issue.record("\(method): \(error)")
            return nil
        }
    }

    // MARK: The document

    private static func bounds() throws -> [Bound] {
        let names = Set(MethodRegistry.all.map { $0.name })
        var found: [Bound] = []
        for method in OpenRPCDocument.value["methods"]?.arrayValue ?? [] {
            // A shutdown would end the walk.
            guard let name = method["name"]?.stringValue, names.contains(name), name != DaemonShutdown.name else {
                continue
            }
            let row = try #require(rows[name], "no row of \(name)")
            for parameter in method["params"]?.arrayValue ?? [] {
                guard let field = parameter["name"]?.stringValue, let schema = parameter["schema"] else { continue }
                for (within, beyond) in forms(of: schema).flatMap({ values(of: $0, row[field]) }) {
                    found.append(Bound(method: name, field: field, member: nil, within: within, beyond: beyond))
                }
                for (member, schema) in members(of: schema) {
                    func placed(_ value: JSONValue) -> JSONValue {
                        var object = row[field]?.objectValue ?? JSONObject()
                        object[member] = value
                        return .object(object)
                    }
                    for (within, beyond) in forms(of: schema).flatMap({ values(of: $0, row[field]?[member]) }) {
                        found.append(
                            Bound(
                                method: name, field: field, member: member, within: placed(within),
                                beyond: placed(beyond)))
                    }
                }
            }
        }
        return found
    }

    private static func forms(of schema: JSONValue) -> [JSONValue] {
        [schema] + (schema["anyOf"]?.arrayValue ?? []) + (schema["oneOf"]?.arrayValue ?? [])
    }

    /// The members of an object with their schemas.
    private static func members(of schema: JSONValue) -> [(key: String, value: JSONValue)] {
        let schemas = OpenRPCDocument.value["components"]?["schemas"]
        for part in [schema] + (schema["allOf"]?.arrayValue ?? []) {
            guard let name = part["$ref"]?.stringValue?.split(separator: "/").last else { continue }
            if let properties = schemas?[String(name)]?["properties"]?.objectValue { return properties.members }
        }
        return []
    }

    /// Values at the bounds of a schema, each with one beyond.
    private static func values(of schema: JSONValue, _ sample: JSONValue?) -> [(JSONValue, JSONValue)] {
        var values: [(JSONValue, JSONValue)] = []
        if let most = schema["maxItems"]?.integerValue {
            let element = sample?.arrayValue?.first ?? element(of: schema["items"])
            func array(_ count: Int64) -> JSONValue { .array(Array(repeating: element, count: Int(clamping: count))) }
            values.append((array(most), array(most + 1)))
        }
        if let most = schema["maxLength"]?.integerValue {
            values.append((text(most, sample?.stringValue, schema), text(most + 1, sample?.stringValue, schema)))
        }
        if let most = schema["maximum"]?.integerValue, most < .max {
            values.append((.integer(most), .integer(most + 1)))
        }
        if let least = schema["minimum"]?.integerValue, least > .min {
            values.append((.integer(least), .integer(least - 1)))
        }
        return values
    }

    /// An element where the row has none. What it is does not matter: the number is checked first.
    private static func element(of items: JSONValue?) -> JSONValue {
        if items?["$ref"]?.stringValue?.hasSuffix("/NewTask") == true {
            return ["url": "http://127.0.0.1:9/c", "kind": "data", "paused": true]
        }
        return items?["type"]?.stringValue == "string" ? "a" : 1
    }

    /// A text of so many characters that begins like the sample.
    private static func text(_ length: Int64, _ sample: String?, _ schema: JSONValue) -> JSONValue {
        let start = sample ?? (schema["pattern"]?.stringValue?.hasPrefix("^/") == true ? "/" : "")
        return .string(start + String(repeating: "a", count: Int(clamping: length) - start.unicodeScalars.count))
    }
}
