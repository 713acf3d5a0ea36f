public import StrictJSON

/// One method of the RPC surface: its name, what goes in, what comes out, and its documentation.
///
/// To add one: a file in its namespace's folder, a line in `MethodRegistry`, a handler in the daemon.
public protocol RPCMethod: Sendable {
    associatedtype Params: WireParams
    associatedtype Result: WireValue

    /// `noun.verb`.
    static var name: String { get }
    /// What it does, one or two sentences.
    static var summary: String { get }
    /// Codes it answers with beyond `ErrorCode.everywhere`.
    static var errors: [ErrorCode] { get }
    /// At least one; checked against the schemas by a test.
    static var examples: [MethodExample] { get }
    /// Whether a call may read and answer so much that the service lets only a few of them run at the same time.
    static var isBulk: Bool { get }
    /// Whether a call with few parameters takes so little that it is answered on the thread that read it.
    static var isBrief: Bool { get }
}

extension RPCMethod {
    public static var errors: [ErrorCode] { [] }
    public static var isBulk: Bool { false }
    public static var isBrief: Bool { false }
}

/// A call and its answer, for the documentation.
public struct MethodExample: Sendable {
    public let name: String
    public let params: JSONValue
    public let result: JSONValue

    public init(_ name: String, params: JSONValue, result: JSONValue) {
        self.name = name
        self.params = params
        self.result = result
    }
}

/// What a method takes: an object with named parameters.
public protocol WireParams: WireValue {
    /// Each parameter by itself, as OpenRPC lists them.
    static func parameters(in schemas: inout WireSchemas) -> [ParameterDescription]
}

/// One named parameter.
public struct ParameterDescription: Sendable {
    public let name: String
    public let documentation: String
    public let isRequired: Bool
    public let schema: JSONValue
}

extension WireParams where Self: WireRecord {
    public static func parameters(in schemas: inout WireSchemas) -> [ParameterDescription] {
        wireFields.map {
            ParameterDescription(
                name: $0.name, documentation: $0.documentation, isRequired: $0.isRequired,
                schema: $0.schema(in: &schemas))
        }
    }
}

/// No parameters.
public struct NoParams: WireInput, WireParams, Hashable {
    public init() {}
    public static let summary = "No parameters."
    public static let wireFields: WireFields<Self> = []
}

/// Nothing to say beyond that it was done: `{}`.
public struct Done: WireRecord, Hashable {
    public init() {}
    public static let summary = "Done."
    public static let wireFields: WireFields<Self> = []
}
