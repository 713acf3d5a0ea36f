public import StrictJSON
import XferModel

/// The description of the whole RPC surface (OpenRPC 1.3), made from the declarations.
///
/// Beyond the standard: `x-params-schema` and `x-events` (the notifications' types), since OpenRPC lists parameters
/// one by one and knows no notifications from the server; `x-access` and `x-scope` of a method (`MethodAccess`,
/// `MethodScope`), and `x-access` of a field (`FieldAccess`).
public enum OpenRPCDocument {
    /// The version of the surface (semver): additions only within a major version.
    public static let version = "1.0.0"

    /// The document; every call makes the same one.
    public static let value: JSONValue = make()

    /// The document as `rpc-schema/openrpc.json` has it, with a line break at its end.
    public static var text: String { value.prettyText + "\n" }

    private static func make() -> JSONValue {
        var schemas = WireSchemas()
        var methods: [JSONValue] = []
        for method in MethodRegistry.documented { methods.append(describe(method, in: &schemas)) }
        let events = describeEvents(in: &schemas)
        _ = RPCFailure.schema(in: &schemas)
        return [
            "openrpc": "1.3.2",
            "info": [
                "title": "xferd", "version": .string(version),
                "description": .string(introduction),
                "license": ["name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"],
            ],
            "servers": servers,
            "methods": .array(methods),
            "x-events": events,
            "components": ["errors": errors, "schemas": .object(named(schemas.components))],
        ]
    }

    /// The addresses of daemons: the user's and the system's socket, and a listener, which an operator configures.
    private static let servers: JSONValue = [
        [
            "name": "user", "url": "unix://${XDG_RUNTIME_DIR}/xferd.sock",
            "summary": "The user's daemon: one message a line, or HTTP/1.1 POST /rpc.",
            "variables": [
                "XDG_RUNTIME_DIR": ["default": "/run/user/1000", "description": "/run/user/ and the user's id."]
            ],
        ],
        [
            "name": "system", "url": "unix:///run/xferd/xferd.sock",
            "summary": "The system's daemon: one message a line, or HTTP/1.1 POST /rpc.",
        ],
        [
            "name": "network", "url": "https://${host}:${port}/rpc",
            "summary":
                "A listener: POST with Authorization: Bearer and a token; /ws is its WebSocket, /events its stream.",
            "variables": [
                "host": ["default": "localhost", "description": "A name or address of the listener."],
                "port": ["default": "6800", "description": "Its port."],
            ],
        ],
    ]

    private static let introduction = """
        Durable transfers. JSON-RPC 2.0 over a Unix stream socket: one message a line, or HTTP/1.1 POST /rpc; and over a \
        listener on the network, with a token. \
        Parameters are by name; unknown ones are refused. Times are RFC 3339 in UTC, durations seconds, sizes bytes, \
        rates bytes per second. Clients ignore unknown fields, events and values.
        """

    private static func describe<Method: RPCMethod>(_ method: Method.Type, in schemas: inout WireSchemas) -> JSONValue {
        let parameters = Method.Params.parameters(in: &schemas)
        let errors = Method.errors + ErrorCode.everywhere
        return [
            "name": .string(Method.name),
            "summary": .string(Method.summary),
            "tags": [["name": .string(String(Method.name.prefix { $0 != "." }))]],
            "paramStructure": "by-name",
            "params": .array(
                parameters.map {
                    [
                        "name": .string($0.name), "description": .string($0.documentation),
                        "required": .bool($0.isRequired), "schema": $0.schema,
                    ]
                }),
            "result": ["name": "result", "schema": Method.Result.schema(in: &schemas)],
            "errors": .array(errors.map { ["$ref": .string("#/components/errors/\($0.name)")] }),
            "examples": .array(Method.examples.map(describe)),
            "x-params-schema": Method.Params.schema(in: &schemas),
            "x-access": .string(Method.access.rawValue),
            "x-scope": .string(Method.scope.rawValue),
        ]
    }

    private static func describe(_ example: MethodExample) -> JSONValue {
        let params = example.params.objectValue?.members ?? []
        return [
            "name": .string(example.name),
            "params": .array(params.map { ["name": .string($0.key), "value": $0.value] }),
            "result": ["name": "result", "value": example.result],
        ]
    }

    /// Each type of event with the schema of its notification's params.
    private static func describeEvents(in schemas: inout WireSchemas) -> JSONValue {
        var events: [JSONValue] = []
        for name in EventName.allCases { events.append(describe(name, in: &schemas)) }
        return [
            "notification": .string(EventMessage.notification), "schema": EventMessage.schema(in: &schemas),
            "types": .array(events),
        ]
    }

    private static func describe(_ name: EventName, in schemas: inout WireSchemas) -> JSONValue {
        let summary = EventSchema(name.example, in: schemas).text
        var description: JSONObject = ["name": name.wire, "summary": .string(summary)]
        if case .durable(let type) = name {
            description.append(newKey: "durable", true)
            description.append(newKey: "terminal", .bool(type.isTerminal))
        } else {
            description.append(newKey: "durable", false)
            description.append(newKey: "terminal", false)
        }
        description.append(newKey: "schema", EventMessage.schema(of: name, in: &schemas))
        return .object(description)
    }

    private static var errors: JSONValue {
        .object(
            named(
                ErrorCode.allCases.map { code in
                    (
                        code.name,
                        [
                            "code": .integer(code.rawValue), "message": .string(code.summary),
                            "data": ["$ref": "#/components/schemas/ErrorData"],
                        ]
                    )
                }))
    }

    private static func named(_ members: [(name: String, schema: JSONValue)]) -> JSONObject {
        var object = JSONObject()
        for (name, value) in members { object.append(newKey: name, value) }
        return object
    }
}
